/* What the operator commands ask of the machine beyond host.c; a plugin call never comes here. */

#define _GNU_SOURCE
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
  /* No line that somebody types is longer. */
  LONGEST_LINE = 4096,
  COPY_BUFFER = 64 * 1024,
  NOT_STARTED = 127,
  KILLED = 128,
};

static JSValue host_is_terminal(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  int32_t stream;
  if (JS_ToInt32(ctx, &stream, args[0]) < 0) return JS_EXCEPTION;
  return JS_NewBool(ctx, isatty(stream));
}

/* Byte by byte, so that nothing behind the line is taken away from whoever reads next. */
static JSValue host_read_line(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count, (void)args;
  char line[LONGEST_LINE];
  size_t length = 0;
  while (length < sizeof line) {
    ssize_t found = read(STDIN_FILENO, line + length, 1);
    if (found < 0 && errno == EINTR) continue;
    if (found < 0) return refuse(ctx, "read", errno);
    if (found == 0 && length == 0) return JS_UNDEFINED;
    if (found == 0 || line[length] == '\n') break;
    length++;
  }
  return JS_NewStringLen(ctx, line, length);
}

/* Mode and user. */
static JSValue host_permissions(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  struct stat found;
  const char *path = path_of(ctx, "lstat", args[0]);
  if (!path) return JS_EXCEPTION;
  int error = lstat(path, &found) < 0 ? errno : 0;
  JS_FreeCString(ctx, path);
  if (error != 0) return refuse(ctx, "lstat", error);
  JSValue pair = JS_NewArray(ctx);
  if (JS_IsException(pair)) return JS_EXCEPTION;
  if (JS_SetPropertyUint32(ctx, pair, 0, JS_NewInt32(ctx, found.st_mode & 07777)) < 0 ||
      JS_SetPropertyUint32(ctx, pair, 1, JS_NewInt64(ctx, found.st_uid)) < 0) {
    JS_FreeValue(ctx, pair);
    return JS_EXCEPTION;
  }
  return pair;
}

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
  int source = open_retrying(from, O_RDONLY, 0);
  if (source < 0) return refuse(ctx, "open", errno);
  int target = open_retrying(to, O_WRONLY | O_CREAT | O_EXCL, mode);
  int error = target < 0 ? errno : copy_bytes(source, target);
  close(source);
  if (target < 0) return refuse(ctx, "open", error);
  if (close(target) < 0 && error == 0) error = errno;
  if (error == 0) return JS_UNDEFINED;
  unlink(to);
  return refuse(ctx, "write", error);
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

/* Starts a program whose standard output is `output`; returns 0 or the errno. */
static int start(char **words, int output, pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t ignored;
  if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  int error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    /* It gets back the signals that this process ignores. */
    if (sigemptyset(&ignored) < 0 || sigaddset(&ignored, SIGPIPE) < 0 ||
        sigaddset(&ignored, SIGXFSZ) < 0) {
      error = errno;
    }
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &ignored);
    if (error == 0) error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (error == 0) {
      error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (error == 0) error = posix_spawnp(child, words[0], &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static JSValue finished(JSContext *ctx, int32_t code, JSValue output) {
  JSValue pair = JS_NewArray(ctx);
  if (JS_IsException(pair) || JS_IsException(output)) {
    JS_FreeValue(ctx, pair);
    JS_FreeValue(ctx, output);
    return JS_EXCEPTION;
  }
  if (JS_SetPropertyUint32(ctx, pair, 0, JS_NewInt32(ctx, code)) < 0 ||
      JS_SetPropertyUint32(ctx, pair, 1, output) < 0) {
    JS_FreeValue(ctx, pair);
    return JS_EXCEPTION;
  }
  return pair;
}

static JSValue run_words(JSContext *ctx, char **words, double limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return refuse(ctx, "pipe", errno);
  pid_t child;
  int error = start(words, ends[1], &child);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    if (error != ENOENT && error != EACCES) return refuse(ctx, "exec", error);
    return finished(ctx, NOT_STARTED, JS_NewString(ctx, ""));
  }
  JSValue output = read_all(ctx, ends[0], limit, 0);
  /* Whoever writes more than the limit meets a closed pipe. */
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return finished(ctx, WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + WTERMSIG(status), output);
}

static JSValue host_run(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  double limit;
  uint32_t length;
  if (JS_ToFloat64(ctx, &limit, args[1]) < 0) return JS_EXCEPTION;
  JSValue size = JS_GetPropertyStr(ctx, args[0], "length");
  if (JS_ToUint32(ctx, &length, size) < 0) return JS_EXCEPTION;
  JS_FreeValue(ctx, size);
  char **words = calloc((size_t)length + 1, sizeof *words);
  if (!words) return JS_ThrowOutOfMemory(ctx);
  JSValue result = JS_UNDEFINED;
  for (uint32_t at = 0; at < length && !JS_IsException(result); at++) {
    JSValue word = JS_GetPropertyUint32(ctx, args[0], at);
    const char *text = path_of(ctx, "exec", word);
    JS_FreeValue(ctx, word);
    words[at] = text ? strdup(text) : NULL;
    if (!text) result = JS_EXCEPTION;
    else if (!words[at]) result = JS_ThrowOutOfMemory(ctx);
    if (text) JS_FreeCString(ctx, text);
  }
  if (!JS_IsException(result)) result = run_words(ctx, words, limit);
  for (uint32_t at = 0; at < length; at++) free(words[at]);
  free(words);
  return result;
}

static const JSCFunctionListEntry functions[] = {
    JS_CFUNC_DEF("isTerminal", 1, host_is_terminal),
    JS_CFUNC_DEF("readLine", 0, host_read_line),
    JS_CFUNC_DEF("permissions", 1, host_permissions),
    JS_CFUNC_DEF("copyFile", 3, host_copy_file),
    JS_CFUNC_DEF("run", 2, host_run),
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
  return added;
}
