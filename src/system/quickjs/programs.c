/* See programs.h. */

#define _GNU_SOURCE
#include "programs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocator.h"
#include "functions.h"
#include "input-output.h"
#include "out-of-memory.h"
#include "text.h"

extern char **environ;

enum {
  OUTPUT,
  ERRORS,
  /* How much is read at a time, in bytes. */
  PART = 64 * 1024,
  /* Only some lines of its errors are shown. */
  LONGEST_ERRORS = 64 * 1024,
  KILLED = 128,
};

/* A captured stream. */
struct stream {
  /* -1 where it is closed, or not captured. */
  int descriptor;
  char *bytes;
  size_t length, limit;
  bool is_longer;
};

/* The one that runs, or whose end has not been told yet. */
static struct program {
  bool is_there, has_ended, is_killed;
  /* Its number, and that of its process group, which may outlive it. */
  pid_t id;
  int64_t deadline;
  int status;
  struct stream streams[PIPES];
} program = {.streams = {{.descriptor = -1}, {.descriptor = -1}}};

static void close_stream(struct stream *stream) {
  if (stream->descriptor >= 0) close(stream->descriptor);
  stream->descriptor = -1;
}

/* Forgets the program. */
static void clear(void) {
  for (int at = 0; at < PIPES; at++) {
    close_stream(&program.streams[at]);
    free(program.streams[at].bytes);
  }
  program = (struct program){.streams = {{.descriptor = -1}, {.descriptor = -1}}};
}

/* Keeps as much as there is room for. */
static void keep(struct stream *stream, const char *bytes, size_t count) {
  size_t room = stream->limit - stream->length;
  if (count > room) {
    stream->is_longer = true;
    count = room;
  }
  stream->bytes = xrealloc(stream->bytes, stream->length + count + 1);
  memcpy(stream->bytes + stream->length, bytes, count);
  stream->length += count;
}

/* Takes the next part of what the program has written; false where there is none now. */
static bool take_part(int at) {
  struct stream *stream = &program.streams[at];
  char part[PART];
  ssize_t count = read(stream->descriptor, part, sizeof part);
  if (count < 0 && errno == EINTR) return true;
  if (count < 0 && errno == EAGAIN) return false;
  if (count > 0) keep(stream, part, (size_t)count);
  /* A program that goes on to write output gets SIGPIPE; errors are cut, and no reason for that. */
  if (count <= 0 || (stream->is_longer && at == OUTPUT)) close_stream(stream);
  return count > 0;
}

/* Makes the pipe of a captured stream; returns the end for the program, or -1 with errno set. */
static int open_stream(struct stream *stream, size_t limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return -1;
  *stream = (struct stream){.descriptor = ends[0], .limit = limit};
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) return ends[1];
  close(ends[1]);
  return -1;
}

/* Starts the program with these streams; returns 0 or the errno. */
static int spawn(const char *path, char **words, char **environment, const int streams[PIPES]) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t ignored, blocked;
  short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  if (program.deadline < INT64_MAX) flags |= POSIX_SPAWN_SETPGROUP;
  /* Resets the signals that this process ignores. */
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  sigaddset(&ignored, SIGXFSZ);
  sigemptyset(&blocked);
  if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  int error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    if ((error = posix_spawnattr_setsigdefault(&attributes, &ignored)) == 0 &&
        (error = posix_spawnattr_setsigmask(&attributes, &blocked)) == 0 &&
        (error = posix_spawnattr_setflags(&attributes, flags)) == 0 &&
        (error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
        (error = posix_spawn_file_actions_adddup2(&actions, streams[OUTPUT], STDOUT_FILENO)) == 0 &&
        (error = posix_spawn_file_actions_adddup2(&actions, streams[ERRORS], STDERR_FILENO)) == 0) {
      error = posix_spawnp(&program.id, path, &actions, &attributes, words, environment);
    }
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* The handler of SIGCHLD, which only interrupts `await`. */
static void on_child(int signal) { (void)signal; }

/* An argument of words, each with NUL behind it, as an array that is ended by NULL, and to be freed. */
static char **words_at(struct call *call, int at) {
  size_t length, count = 0;
  const char *text = text_at(call, at, &length);
  /* Each word takes a byte at least. The array is followed by a copy of them, since posix_spawn(3) takes what is not const. */
  char **words = xrealloc(NULL, (length + 1) * (sizeof *words + 1));
  char *copy = memcpy(words + length + 1, text, length + 1);
  for (char *word = copy; word < copy + length; word += strlen(word) + 1) words[count++] = word;
  words[count] = NULL;
  return words;
}

JSValue host_start(struct call *call) {
  const bool captures[PIPES] = {
      member_at(call, 3, "capturesOutput") != 0,
      member_at(call, 3, "capturesErrors") != 0,
  };
  const size_t limits[PIPES] = {(size_t)member_at(call, 3, "limit"), LONGEST_ERRORS};
  int streams[PIPES] = {STDERR_FILENO, STDERR_FILENO}, error = 0;
  size_t length;
  const char *command = text_at(call, 2, &length);
  char **words = words_at(call, 1);
  clear();
  /* Also where the parent process ignores it: the kernel would discard exit codes. */
  await_signal(SIGCHLD, on_child);
  int64_t timeout = (int64_t)member_at(call, 3, "timeout");
  program.deadline = timeout > 0 ? monotonic() + timeout * 1000000 : INT64_MAX;
  for (int at = 0; at < PIPES && error == 0; at++) {
    if (!captures[at]) continue;
    streams[at] = open_stream(&program.streams[at], limits[at]);
    if (streams[at] < 0) error = errno;
  }
  /* All that a plugin gets. */
  const char *directories = getenv("PATH");
  char *own[] = {NULL, NULL, NULL};
  /* Of an empty PATH a shell makes the current directory. */
  if (asprintf(&own[0], "CNI_COMMAND=%s", command) < 0 ||
      (directories && *directories && asprintf(&own[1], "PATH=%s", directories) < 0)) {
    out_of_memory();
  }
  if (error == 0) error = spawn(call->path, words, *command ? own : environ, streams);
  for (int at = 0; at < PIPES; at++) {
    if (streams[at] > STDERR_FILENO) close(streams[at]);
  }
  free(words);
  free(own[0]);
  free(own[1]);
  program.is_there = error == 0;
  if (error == 0) return JS_UNDEFINED;
  clear();
  return throw_errno(call, "exec", error);
}

void kill_program(void) {
  if (program.is_there) kill(-program.id, SIGKILL);
}

int64_t watch_program(struct pollfd *awaited, int64_t until) {
  int64_t now = monotonic();
  for (int at = 0; at < PIPES; at++) {
    /* A negative descriptor is none. */
    awaited[at] = (struct pollfd){.fd = program.streams[at].descriptor, .events = POLLIN};
  }
  if (!program.is_there || program.is_killed) return until;
  if (now < program.deadline) return program.deadline < until ? program.deadline : until;
  program.is_killed = true;
  kill_program();
  /* It may have ended before, while a process beyond its group holds its output: no event tells of that. */
  return now;
}

void attend_program(const struct pollfd *awaited) {
  int status;
  pid_t ended;
  for (int at = 0; at < PIPES; at++) {
    if (awaited[at].revents != 0) take_part(at);
  }
  /* The first process of a container also gets the children of others that have ended. */
  while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
    if (!program.is_there || ended != program.id) continue;
    program.has_ended = true;
    program.status = status;
  }
}

bool is_complete(void) {
  bool is_silent = program.is_killed || program.streams[OUTPUT].descriptor < 0;
  return program.is_there && program.has_ended && is_silent;
}

/* The complete program as `CompletedProcess`. */
static JSValue completed_process(const struct call *call) {
  JSContext *ctx = call->ctx;
  struct stream *output = &program.streams[OUTPUT], *errors = &program.streams[ERRORS];
  /* A child of the program may still hold it. */
  while (errors->descriptor >= 0 && !errors->is_longer && take_part(ERRORS)) continue;
  int status = program.status;
  int32_t code = WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + WTERMSIG(status);
  JSValue result;
  if (output->is_longer) {
    result = throw_errno(call, "read", EFBIG);
  } else if (program.is_killed) {
    result = throw_errno(call, "exec", ETIMEDOUT);
  } else {
    const struct member members[] = {
        {"exitCode", JS_NewInt32(ctx, code)},
        {"stdout", new_text(ctx, output->bytes ? output->bytes : "", output->length)},
        {"stderr", new_text(ctx, errors->bytes ? errors->bytes : "", errors->length)},
    };
    result = object_of(ctx, members, sizeof members / sizeof members[0]);
  }
  clear();
  return result;
}

JSValue host_result(struct call *call) {
  return is_complete() ? completed_process(call) : JS_UNDEFINED;
}

/* The signals that are blocked during `await`, if any are to arrive only then. */
static sigset_t waiting;
static bool is_known;

void await_signal(int number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, number);
  sigaction(number, &action, NULL);
  sigprocmask(SIG_BLOCK, &taken, is_known ? NULL : &waiting);
  is_known = true;
  sigdelset(&waiting, number);
}

int await(struct pollfd *awaited, size_t count, int64_t until) {
  int64_t now = monotonic(), left = until > now ? until - now : 0;
  struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
  int ready = ppoll(awaited, count, until == INT64_MAX ? NULL : &timeout,
                    is_known ? &waiting : NULL);
  if (ready >= 0) return 0;
  /* Nothing is known of the descriptors then. */
  for (size_t at = 0; at < count; at++) awaited[at].revents = 0;
  return errno == EINTR ? 0 : errno;
}
