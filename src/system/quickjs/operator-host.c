/* System calls of the operator's tool beyond those of host.c; a call of the plugin never gets here. */

#define _GNU_SOURCE
#include "operator-host.h"

#include "agent-host.h"
#include "file-calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  /* A longer line is cut here, in bytes. */
  LONGEST_LINE = 4096,
  COPY_BUFFER = 64 * 1024,
  PIPE_CAPACITY = 64 * 1024,
  NOT_STARTED = 127,
  KILLED = 128,
};

static JSValue host_is_terminal(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  int32_t stream;
  if (JS_ToInt32(ctx, &stream, args[0]) < 0) return JS_EXCEPTION;
  return JS_NewBool(ctx, isatty(stream));
}

/* The width of the terminal on standard output; 0 where it is not known. */
static JSValue host_terminal_width(JSContext *ctx, JSValueConst self, int count,
                                   JSValueConst *args) {
  (void)self, (void)count, (void)args;
  struct winsize size;
  return JS_NewInt32(ctx, ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ? 0 : size.ws_col);
}

static JSValue host_sleep(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  uint32_t milliseconds;
  if (JS_ToUint32(ctx, &milliseconds, args[0]) < 0) return JS_EXCEPTION;
  struct timespec left = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
  while (nanosleep(&left, &left) < 0 && errno == EINTR) continue;
  return JS_UNDEFINED;
}

/* A FIFO has no end before it has had a writer: read_all waits for one, since it asks poll first. */
static JSValue host_read_pipe(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  double limit;
  uint32_t milliseconds;
  if (JS_ToFloat64(ctx, &limit, args[1]) < 0 || JS_ToUint32(ctx, &milliseconds, args[2]) < 0) {
    return JS_EXCEPTION;
  }
  return read_path(ctx, args[0], limit, monotonic() + (int64_t)milliseconds * 1000000);
}

/* Byte by byte, so that what follows the line is left for the next reader. */
static JSValue host_read_line(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count, (void)args;
  char line[LONGEST_LINE];
  size_t length = 0;
  while (length < sizeof line) {
    ssize_t found = read(STDIN_FILENO, line + length, 1);
    if (found < 0 && errno == EINTR) continue;
    if (found < 0) return throw_errno(ctx, "read", errno);
    if (found == 0 && length == 0) return JS_UNDEFINED;
    if (found == 0 || line[length] == '\n') break;
    length++;
  }
  return JS_NewStringLen(ctx, line, length);
}

/* Mode and user id. */
static JSValue host_permissions(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  struct stat found;
  const char *path = path_of(ctx, "lstat", args[0]);
  if (!path) return JS_EXCEPTION;
  int error = lstat(path, &found) < 0 ? errno : 0;
  JS_FreeCString(ctx, path);
  if (error != 0) return throw_errno(ctx, "lstat", error);
  JSValue pair = JS_NewArray(ctx);
  if (JS_IsException(pair)) return JS_EXCEPTION;
  if (JS_SetPropertyUint32(ctx, pair, 0, JS_NewInt32(ctx, found.st_mode & 07777)) < 0 ||
      JS_SetPropertyUint32(ctx, pair, 1, JS_NewInt64(ctx, found.st_uid)) < 0) {
    JS_FreeValue(ctx, pair);
    return JS_EXCEPTION;
  }
  return pair;
}

/* Without O_NONBLOCK a FIFO would block the command. */
static int open_for_reading(const char *path) { return open_retrying(path, O_RDONLY | O_NONBLOCK, 0); }

/* Returns 0 or the errno. */
static int copy_bytes(int from, int to) {
  char buffer[COPY_BUFFER];
  for (;;) {
    ssize_t found = read(from, buffer, sizeof buffer);
    if (found == 0) return 0;
    if (found < 0 && errno != EINTR) return errno;
    if (found > 0 && !write_all(to, buffer, (size_t)found)) return errno;
  }
}

static JSValue copy_file(JSContext *ctx, const char *from, const char *to, mode_t mode) {
  int source = open_for_reading(from);
  if (source < 0) return throw_errno(ctx, "open", errno);
  int target = open_retrying(to, O_WRONLY | O_CREAT | O_EXCL, mode);
  int error = target < 0 ? errno : copy_bytes(source, target);
  if (error == 0 && fsync(target) < 0) error = errno;
  close(source);
  if (target < 0) return throw_errno(ctx, "open", error);
  if (close(target) < 0 && error == 0) error = errno;
  if (error == 0) return JS_UNDEFINED;
  unlink(to);
  return throw_errno(ctx, "write", error);
}

static JSValue host_copy_file(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  uint32_t mode;
  if (JS_ToUint32(ctx, &mode, args[2]) < 0) return JS_EXCEPTION;
  const char *from = path_of(ctx, "open", args[0]);
  if (!from) return JS_EXCEPTION;
  const char *to = path_of(ctx, "open", args[1]);
  JSValue result = to ? copy_file(ctx, from, to, (mode_t)mode) : JS_EXCEPTION;
  if (to) JS_FreeCString(ctx, to);
  JS_FreeCString(ctx, from);
  return result;
}

/* Returns how many bytes were read, fewer than asked for only at the end of the file; -1 with errno set. */
static ssize_t read_full(int descriptor, char *bytes, size_t length) {
  size_t found = 0;
  while (found < length) {
    ssize_t count = read(descriptor, bytes + found, length - found);
    if (count == 0) break;
    if (count < 0 && errno != EINTR) return -1;
    if (count > 0) found += (size_t)count;
  }
  return (ssize_t)found;
}

/* Returns 0 or the errno. */
static int compare_bytes(int one, int two, bool *same) {
  char left[COPY_BUFFER], right[COPY_BUFFER];
  for (;;) {
    ssize_t count = read_full(one, left, sizeof left);
    if (count < 0) return errno;
    ssize_t other = read_full(two, right, sizeof right);
    if (other < 0) return errno;
    *same = count == other && memcmp(left, right, (size_t)count) == 0;
    if (!*same || count == 0) return 0;
  }
}

static JSValue same_content(JSContext *ctx, const char *path, const char *other) {
  int one = open_for_reading(path);
  if (one < 0) return throw_errno(ctx, "open", errno);
  int two = open_for_reading(other);
  bool same = false;
  int error = two < 0 ? errno : compare_bytes(one, two, &same);
  close(one);
  if (two >= 0) close(two);
  return error == 0 ? JS_NewBool(ctx, same) : throw_errno(ctx, two < 0 ? "open" : "read", error);
}

static JSValue host_same_content(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  const char *path = path_of(ctx, "open", args[0]);
  if (!path) return JS_EXCEPTION;
  const char *other = path_of(ctx, "open", args[1]);
  JSValue result = other ? same_content(ctx, path, other) : JS_EXCEPTION;
  if (other) JS_FreeCString(ctx, other);
  JS_FreeCString(ctx, path);
  return result;
}

/* Returns 0 or the errno. */
static int find_text(int descriptor, const char *text, size_t length, bool *found) {
  char buffer[COPY_BUFFER];
  /* The end of what was read before: the text may begin there. */
  size_t kept = 0;
  *found = false;
  if (length == 0 || length > sizeof buffer / 2) return EINVAL;
  for (;;) {
    ssize_t count = read_full(descriptor, buffer + kept, sizeof buffer - kept);
    if (count < 0) return errno;
    size_t filled = kept + (size_t)count;
    *found = memmem(buffer, filled, text, length) != NULL;
    if (*found || count == 0) return 0;
    kept = filled < length ? filled : length - 1;
    memmove(buffer, buffer + filled - kept, kept);
  }
}

static JSValue has_text(JSContext *ctx, const char *path, JSValueConst value) {
  size_t length;
  const char *text = JS_ToCStringLen(ctx, &length, value);
  if (!text) return JS_EXCEPTION;
  int descriptor = open_for_reading(path);
  bool found = false;
  int error = descriptor < 0 ? errno : find_text(descriptor, text, length, &found);
  if (descriptor >= 0) close(descriptor);
  JS_FreeCString(ctx, text);
  return error == 0 ? JS_NewBool(ctx, found)
                    : throw_errno(ctx, descriptor < 0 ? "open" : "read", error);
}

static JSValue host_has_text(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  const char *path = path_of(ctx, "open", args[0]);
  if (!path) return JS_EXCEPTION;
  JSValue result = has_text(ctx, path, args[1]);
  JS_FreeCString(ctx, path);
  return result;
}

int start_program(const struct run *run, int output, int errors, pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t ignored, blocked;
  short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  if (run->deadline) flags |= POSIX_SPAWN_SETPGROUP;
  if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  int error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    /* Resets the signals that this process ignores. */
    if (sigemptyset(&ignored) < 0 || sigaddset(&ignored, SIGPIPE) < 0 ||
        sigaddset(&ignored, SIGXFSZ) < 0) {
      error = errno;
    }
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &ignored);
    if (error == 0 && sigemptyset(&blocked) < 0) error = errno;
    if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &blocked);
    if (error == 0) error = posix_spawnattr_setflags(&attributes, flags);
    if (error == 0) {
      error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (error == 0 && errors >= 0) {
      error = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    }
    if (error == 0) {
      error = posix_spawnp(child, run->words[0], &actions, &attributes, run->words, run->environment);
    }
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

JSValue completed_process(JSContext *ctx, int32_t code, JSValue output, JSValue errors) {
  JSValue result = JS_NewArray(ctx);
  if (JS_IsException(result) || JS_IsException(output) || JS_IsException(errors)) {
    JS_FreeValue(ctx, result);
    JS_FreeValue(ctx, output);
    JS_FreeValue(ctx, errors);
    return JS_EXCEPTION;
  }
  if (JS_SetPropertyUint32(ctx, result, 0, JS_NewInt32(ctx, code)) < 0 ||
      JS_SetPropertyUint32(ctx, result, 1, output) < 0 ||
      JS_SetPropertyUint32(ctx, result, 2, errors) < 0) {
    JS_FreeValue(ctx, result);
    return JS_EXCEPTION;
  }
  return result;
}

/* Waits for a program, which is killed at the deadline. Returns 0, ETIMEDOUT if it was killed, or another errno. */
static int wait_until(pid_t child, int64_t deadline, int *status) {
  const struct timespec pause = {.tv_nsec = 1000000};
  while (deadline && monotonic() < deadline) {
    pid_t ended = waitpid(child, status, WNOHANG);
    if (ended == child) return 0;
    if (ended < 0 && errno != EINTR) return errno;
    nanosleep(&pause, NULL);
  }
  if (deadline) kill(-child, SIGKILL);
  while (waitpid(child, status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return deadline ? ETIMEDOUT : 0;
}

/* What is in a pipe, without waiting for more: a program may have left children that still hold it. */
static JSValue drain(JSContext *ctx, int descriptor) {
  char text[PIPE_CAPACITY];
  if (fcntl(descriptor, F_SETFL, O_NONBLOCK) < 0) return throw_errno(ctx, "fcntl", errno);
  size_t length = 0;
  while (length < sizeof text) {
    ssize_t found = read(descriptor, text + length, sizeof text - length);
    if (found == 0 || (found < 0 && errno != EINTR)) break;
    if (found > 0) length += (size_t)found;
  }
  return JS_NewStringLen(ctx, text, length);
}

static void close_pipe(const int *ends) {
  for (int end = 0; end < 2; end++) {
    if (ends[end] >= 0) close(ends[end]);
  }
}

/* Reads what the program writes, and waits for it. */
static JSValue complete(JSContext *ctx, const struct run *run, pid_t child, int *output, int errors) {
  JSValue text = read_all(ctx, output[0], run->limit, run->deadline);
  /* A program that writes more than the limit gets SIGPIPE. */
  close(output[0]);
  output[0] = -1;
  int status = 0;
  int error = wait_until(child, run->deadline, &status);
  if (JS_IsException(text)) return text;
  if (error != 0) {
    JS_FreeValue(ctx, text);
    return throw_errno(ctx, error == ETIMEDOUT ? "exec" : "wait", error);
  }
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + WTERMSIG(status);
  JSValue diagnostics = errors >= 0 ? drain(ctx, errors) : JS_NewString(ctx, "");
  return completed_process(ctx, code, text, diagnostics);
}

static JSValue run_program(JSContext *ctx, const struct run *run) {
  int output[2] = {-1, -1}, errors[2] = {-1, -1};
  /* Where the parent process ignores it, the kernel discards exit codes: a failure would be taken for success. */
  if (signal(SIGCHLD, SIG_DFL) == SIG_ERR) return throw_errno(ctx, "signal", errno);
  if (pipe2(output, O_CLOEXEC) < 0 || (run->captures_stderr && pipe2(errors, O_CLOEXEC) < 0)) {
    int error = errno;
    close_pipe(output);
    return throw_errno(ctx, "pipe", error);
  }
  pid_t child;
  int error = start_program(run, output[1], errors[1], &child);
  close(output[1]);
  output[1] = -1;
  if (errors[1] >= 0) close(errors[1]);
  errors[1] = -1;
  JSValue result;
  if (error == 0) {
    result = complete(ctx, run, child, output, errors[0]);
  } else if (error == ENOENT || error == EACCES) {
    result = completed_process(ctx, NOT_STARTED, JS_NewString(ctx, ""), JS_NewString(ctx, ""));
  } else {
    result = throw_errno(ctx, "exec", error);
  }
  close_pipe(output);
  close_pipe(errors);
  return result;
}

void free_strings(char **texts) {
  for (char **text = texts; text && *text; text++) free(*text);
  free(texts);
}

char **strings_of(JSContext *ctx, JSValueConst list) {
  uint32_t length;
  JSValue size = JS_GetPropertyStr(ctx, list, "length");
  if (JS_ToUint32(ctx, &length, size) < 0) return NULL;
  JS_FreeValue(ctx, size);
  char **texts = calloc((size_t)length + 1, sizeof *texts);
  if (!texts) {
    JS_ThrowOutOfMemory(ctx);
    return NULL;
  }
  for (uint32_t at = 0; at < length; at++) {
    JSValue element = JS_GetPropertyUint32(ctx, list, at);
    const char *text = path_of(ctx, "exec", element);
    JS_FreeValue(ctx, element);
    texts[at] = text ? strdup(text) : NULL;
    if (text && !texts[at]) JS_ThrowOutOfMemory(ctx);
    if (text) JS_FreeCString(ctx, text);
    if (!texts[at]) {
      free_strings(texts);
      return NULL;
    }
  }
  return texts;
}

static bool is_replaced(const char *variable, char **settings) {
  size_t name = strcspn(variable, "=");
  for (; *settings; settings++) {
    if (strncmp(variable, *settings, name + 1) == 0) return true;
  }
  return false;
}

/* This process's environment with these variables replaced or added; only the array is to be freed. NULL without memory. */
static char **environment_with(char **settings) {
  size_t count = 1;
  for (char **one = settings; *one; one++) count++;
  for (char **one = environ; *one; one++) count++;
  char **environment = calloc(count, sizeof *environment);
  if (!environment) return NULL;
  size_t at = 0;
  for (char **one = settings; *one; one++) environment[at++] = *one;
  for (char **one = environ; *one; one++) {
    if (!is_replaced(*one, settings)) environment[at++] = *one;
  }
  return environment;
}

static JSValue host_run(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  struct run run = {.captures_stderr = JS_ToBool(ctx, args[4])};
  int64_t timeout;
  if (JS_ToFloat64(ctx, &run.limit, args[1]) < 0) return JS_EXCEPTION;
  if (JS_ToInt64(ctx, &timeout, args[3]) < 0) return JS_EXCEPTION;
  if (timeout > 0) run.deadline = monotonic() + timeout * 1000000;
  run.words = strings_of(ctx, args[0]);
  if (!run.words) return JS_EXCEPTION;
  char **settings = strings_of(ctx, args[2]);
  JSValue result = JS_EXCEPTION;
  if (settings) {
    run.environment = environment_with(settings);
    result = run.environment ? run_program(ctx, &run) : JS_ThrowOutOfMemory(ctx);
    free(run.environment);
  }
  free_strings(settings);
  free_strings(run.words);
  return result;
}

static const JSCFunctionListEntry functions[] = {
    JS_CFUNC_DEF("isTerminal", 1, host_is_terminal),
    JS_CFUNC_DEF("terminalWidth", 0, host_terminal_width),
    JS_CFUNC_DEF("sleep", 1, host_sleep),
    JS_CFUNC_DEF("readLine", 0, host_read_line),
    JS_CFUNC_DEF("readPipe", 3, host_read_pipe),
    JS_CFUNC_DEF("permissions", 1, host_permissions),
    JS_CFUNC_DEF("copyFile", 3, host_copy_file),
    JS_CFUNC_DEF("sameContent", 2, host_same_content),
    JS_CFUNC_DEF("hasText", 2, host_has_text),
    JS_CFUNC_DEF("run", 5, host_run),
};

bool add_operator_host(JSContext *ctx, int count, char **arguments) {
  JSValue host = JS_NewObject(ctx);
  JSValue words = JS_NewArray(ctx);
  bool added = !JS_IsException(host) && !JS_IsException(words);
  if (added) {
    JS_SetPropertyFunctionList(ctx, host, functions, sizeof functions / sizeof functions[0]);
  }
  for (int at = 0; at < count && added; at++) {
    added = JS_SetPropertyUint32(ctx, words, (uint32_t)at, JS_NewString(ctx, arguments[at])) >= 0;
  }
  if (!added) {
    JS_FreeValue(ctx, host);
    JS_FreeValue(ctx, words);
    return false;
  }
  added = JS_SetPropertyStr(ctx, host, "arguments", words) >= 0;
  JSValue global = JS_GetGlobalObject(ctx);
  added = JS_SetPropertyStr(ctx, global, "operatorHost", host) >= 0 && added;
  JS_FreeValue(ctx, global);
  return added && add_agent_host(ctx);
}
