/* Reading and writing files, and throwing errors: see file-calls.h. */

#define _GNU_SOURCE
#include "file-calls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_BUFFER = 4096 };

JSValue throw_errno(JSContext *ctx, const char *operation, int error) {
  const char *code = strerrorname_np(error);
  JSValue object = JS_NewObject(ctx);
  if (JS_IsException(object)) return JS_EXCEPTION;
  if (JS_SetPropertyStr(ctx, object, "operation", JS_NewString(ctx, operation)) < 0 ||
      JS_SetPropertyStr(ctx, object, "code", JS_NewString(ctx, code ? code : "EINVAL")) < 0) {
    JS_FreeValue(ctx, object);
    return JS_EXCEPTION;
  }
  return JS_Throw(ctx, object);
}

JSValue done(JSContext *ctx, const char *operation, int result) {
  return result < 0 ? throw_errno(ctx, operation, errno) : JS_UNDEFINED;
}

const char *path_of(JSContext *ctx, const char *operation, JSValueConst value) {
  size_t length;
  const char *path = JS_ToCStringLen(ctx, &length, value);
  if (path && strlen(path) != length) {
    JS_FreeCString(ctx, path);
    throw_errno(ctx, operation, EINVAL);
    return NULL;
  }
  return path;
}

int open_retrying(const char *path, int flags, mode_t mode) {
  int descriptor;
  do descriptor = open(path, flags | O_CLOEXEC, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

int open_existing(JSContext *ctx, JSValueConst value, int flags) {
  const char *path = path_of(ctx, "open", value);
  if (!path) return -1;
  /* Without O_NONBLOCK a FIFO would block this call, and every other one that waits for its lock. */
  int descriptor = open_retrying(path, flags | O_NONBLOCK, 0);
  int error = errno;
  JS_FreeCString(ctx, path);
  if (descriptor < 0) throw_errno(ctx, "open", error);
  return descriptor;
}

bool write_all(int descriptor, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t count = write(descriptor, bytes, length);
    if (count < 0 && errno == EAGAIN) {
      /* The caller's pipe is non-blocking and full. */
      struct timespec pause = {.tv_nsec = 1000 * 1000};
      nanosleep(&pause, NULL);
    } else if (count < 0 && errno != EINTR) {
      return false;
    } else if (count > 0) {
      bytes += count;
      length -= (size_t)count;
    }
  }
  return true;
}

int64_t nanoseconds(struct timespec time) {
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t monotonic(void) {
  struct timespec time;
  return clock_gettime(CLOCK_MONOTONIC, &time) < 0 ? 0 : nanoseconds(time);
}

/* Waits until something can be read, at most until the deadline; returns 0 or the errno. */
static int wait_for_input(int descriptor, int64_t deadline) {
  for (;;) {
    int64_t left = (deadline - monotonic()) / 1000000;
    struct pollfd input = {.fd = descriptor, .events = POLLIN};
    int ready = poll(&input, 1, left > 0 ? (int)left : 0);
    if (ready > 0) return 0;
    if (ready == 0) return ETIMEDOUT;
    if (errno != EINTR) return errno;
  }
}

JSValue read_all(JSContext *ctx, int descriptor, double limit, int64_t deadline) {
  size_t capacity = FIRST_BUFFER, length = 0;
  int error = 0;
  char *bytes = malloc(capacity);
  if (!bytes) return JS_ThrowOutOfMemory(ctx);
  for (;;) {
    if (deadline && (error = wait_for_input(descriptor, deadline))) break;
    ssize_t count = read(descriptor, bytes + length, capacity - length);
    if (count == 0) break;
    if (count < 0) {
      /* Another reader of the same stream may have been faster. */
      if (errno == EINTR || (errno == EAGAIN && deadline)) continue;
      error = errno;
      break;
    }
    length += (size_t)count;
    if ((double)length > limit) {
      error = EFBIG;
      break;
    }
    if (length == capacity) {
      char *larger = realloc(bytes, capacity * 2);
      if (!larger) {
        free(bytes);
        return JS_ThrowOutOfMemory(ctx);
      }
      bytes = larger;
      capacity *= 2;
    }
  }
  JSValue result = error ? throw_errno(ctx, "read", error) : JS_NewStringLen(ctx, bytes, length);
  free(bytes);
  return result;
}

JSValue read_path(JSContext *ctx, JSValueConst value, double limit, int64_t deadline) {
  int descriptor = open_existing(ctx, value, O_RDONLY);
  if (descriptor < 0) return JS_EXCEPTION;
  JSValue result = read_all(ctx, descriptor, limit, deadline);
  close(descriptor);
  return result;
}
