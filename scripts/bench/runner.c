/*
 * Starts programs as a runtime starts plugins, and measures them; from Node.js, starting a process
 * costs more than a call itself.
 *
 * Standard input holds groups of calls, ended by empty lines; a call is one line of fields with
 * tabs between them: the executable, the file with its configuration, and its environment. The
 * calls of a group run at the same time, the groups one after the other. For each group one line is
 * printed: wall time in nanoseconds from before the first start to after the last end, the largest
 * peak of resident memory in KiB, the highest exit status, the bytes on standard output together.
 *
 * A configuration is in the pipe before its call is started, and the output is read from another.
 * Linked statically: a child's peak begins with that of this process, which has to stay small.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  /* A call has three open files until it is started. */
  LARGEST_GROUP = 300,
  MOST_VARIABLES = 16,
};

struct call {
  char *line;
  char *executable;
  char *environment[MOST_VARIABLES + 1];
  int input;
  int output[2];
  pid_t process;
};

struct outcome {
  long long nanoseconds;
  long kilobytes;
  int status;
  size_t bytes;
};

static void give_up(const char *what, int error) {
  fprintf(stderr, "runner: %s: %s\n", what, strerror(error));
  exit(EXIT_FAILURE);
}

static long long now(void) {
  struct timespec time;
  if (clock_gettime(CLOCK_MONOTONIC, &time) != 0) give_up("clock_gettime", errno);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* A pipe with the content of a file in it, and nobody to write more. */
static int pipe_holding(const char *path) {
  char content[PIPE_BUF];
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) give_up(path, errno);
  ssize_t length = read(file, content, sizeof content);
  if (length < 0) give_up(path, errno);
  if (length == (ssize_t)sizeof content) give_up(path, EFBIG);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) give_up("pipe2", errno);
  if (write(ends[1], content, (size_t)length) != length) give_up("write", errno);
  if (close(ends[1]) != 0 || close(file) != 0) give_up("close", errno);
  return ends[0];
}

/* Takes the line apart, and opens what the call needs. */
static void prepare(struct call *call, char *line) {
  char *rest = line;
  call->line = line;
  call->executable = strsep(&rest, "\t");
  const char *configuration = strsep(&rest, "\t");
  if (!configuration) give_up(line, EINVAL);
  size_t count = 0;
  while (rest) {
    if (count == MOST_VARIABLES) give_up(line, E2BIG);
    call->environment[count++] = strsep(&rest, "\t");
  }
  call->environment[count] = NULL;
  call->input = pipe_holding(configuration);
  if (pipe2(call->output, O_CLOEXEC) != 0) give_up("pipe2", errno);
}

static void start(struct call *call) {
  posix_spawn_file_actions_t actions;
  char *arguments[] = {call->executable, NULL};
  int error = posix_spawn_file_actions_init(&actions);
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, call->input, STDIN_FILENO);
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, call->output[1], STDOUT_FILENO);
  if (!error) {
    error = posix_spawn(&call->process, call->executable, &actions, NULL, arguments,
                        call->environment);
  }
  if (!error) error = posix_spawn_file_actions_destroy(&actions);
  if (error) give_up(call->executable, error);
  if (close(call->input) != 0 || close(call->output[1]) != 0) give_up("close", errno);
}

/* Reads what the call prints until it closes its output, and waits for its end. */
static void await(struct call *call, struct outcome *outcome) {
  char buffer[PIPE_BUF];
  ssize_t length;
  while ((length = read(call->output[0], buffer, sizeof buffer)) != 0) {
    if (length < 0) give_up("read", errno);
    outcome->bytes += (size_t)length;
  }
  int status;
  struct rusage usage;
  if (wait4(call->process, &status, 0, &usage) < 0) give_up("wait4", errno);
  /* As a shell counts: a process that was killed has no exit status. */
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code > outcome->status) outcome->status = code;
  if (usage.ru_maxrss > outcome->kilobytes) outcome->kilobytes = usage.ru_maxrss;
}

static void run_group(struct call *calls, size_t count) {
  struct outcome outcome = {0};
  long long begin = now();
  for (size_t i = 0; i < count; i++) start(&calls[i]);
  for (size_t i = 0; i < count; i++) await(&calls[i], &outcome);
  outcome.nanoseconds = now() - begin;
  for (size_t i = 0; i < count; i++) {
    if (close(calls[i].output[0]) != 0) give_up("close", errno);
    free(calls[i].line);
  }
  if (printf("%lld %ld %d %zu\n", outcome.nanoseconds, outcome.kilobytes, outcome.status,
             outcome.bytes) < 0) {
    give_up("standard output", errno);
  }
}

/* The next line without its end; NULL at the end of the input. */
static char *read_line(void) {
  char *line = NULL;
  size_t size = 0;
  errno = 0;
  ssize_t length = getline(&line, &size, stdin);
  if (length < 0) {
    free(line);
    if (errno != 0) give_up("standard input", errno);
    return NULL;
  }
  if (line[length - 1] == '\n') line[length - 1] = '\0';
  return line;
}

int main(void) {
  static struct call calls[LARGEST_GROUP];
  size_t count = 0;
  for (char *line; (line = read_line());) {
    bool ends_group = line[0] == '\0';
    if (ends_group) {
      free(line);
      run_group(calls, count);
      count = 0;
    } else if (count == LARGEST_GROUP) {
      give_up("too many calls at the same time", E2BIG);
    } else {
      prepare(&calls[count++], line);
    }
  }
  if (count > 0) give_up("the last group has no end", EINVAL);
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
