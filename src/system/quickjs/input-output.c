/* See input-output.h. */

#define _GNU_SOURCE
#include "input-output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "allocator.h"
#include "text.h"

/* Most files are shorter; of a file of the kernel, what one read gives belongs together. */
enum { FIRST_BUFFER = 4096 };

int open_retrying(const char *path, int flags, mode_t mode) {
  int descriptor;
  do descriptor = open(path, flags | O_CLOEXEC, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

ssize_t read_up_to(int descriptor, char *bytes, size_t limit) {
  size_t length = 0;
  while (length < limit) {
    ssize_t count = read(descriptor, bytes + length, limit - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    length += (size_t)count;
  }
  return (ssize_t)length;
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

int close_written(int descriptor, bool written) {
  int error = written ? 0 : errno;
  /* A network file system may report only now that the text could not be written. */
  if (close(descriptor) < 0 && written && errno != EINTR) return errno;
  return error;
}

int open_existing(const struct call *call, int flags) {
  /* Without O_NONBLOCK a FIFO would block this call, and every other one that waits for its lock. */
  int descriptor = open_retrying(call->path, flags | O_NONBLOCK, 0);
  int error = errno;
  if (descriptor < 0) throw_errno(call, "open", error);
  errno = error;
  return descriptor;
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

int read_bytes(int descriptor, double limit, int64_t deadline, struct bytes *found) {
  size_t capacity = FIRST_BUFFER;
  *found = (struct bytes){.start = xrealloc(NULL, capacity)};
  for (;;) {
    int error = deadline ? wait_for_input(descriptor, deadline) : 0;
    if (error != 0) return error;
    ssize_t count = read(descriptor, found->start + found->length, capacity - found->length);
    if (count == 0) return 0;
    if (count < 0) {
      /* Another reader of the same stream may have been faster. */
      if (errno == EINTR || (errno == EAGAIN && deadline)) continue;
      return errno;
    }
    found->length += (size_t)count;
    if ((double)found->length > limit) return EFBIG;
    if (found->length == capacity) found->start = xrealloc(found->start, capacity *= 2);
  }
}

JSValue read_all(const struct call *call, int descriptor, double limit, int64_t deadline) {
  struct bytes found;
  int error = read_bytes(descriptor, limit, deadline, &found);
  JSValue result =
      error ? throw_errno(call, "read", error) : new_text(call->ctx, found.start, found.length);
  free(found.start);
  return result;
}

JSValue read_path(const struct call *call, double limit, int64_t deadline) {
  int descriptor = open_existing(call, O_RDONLY);
  if (descriptor < 0) return JS_EXCEPTION;
  JSValue result = read_all(call, descriptor, limit, deadline);
  close(descriptor);
  return result;
}

int64_t nanoseconds(struct timespec time) {
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t monotonic(void) {
  struct timespec time;
  return clock_gettime(CLOCK_MONOTONIC, &time) < 0 ? 0 : nanoseconds(time);
}
