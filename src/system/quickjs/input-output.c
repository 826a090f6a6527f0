/* See input-output.h. */

#define _GNU_SOURCE
#include "input-output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

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

int64_t nanoseconds(struct timespec time) {
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t monotonic(void) {
  struct timespec time;
  return clock_gettime(CLOCK_MONOTONIC, &time) < 0 ? 0 : nanoseconds(time);
}
