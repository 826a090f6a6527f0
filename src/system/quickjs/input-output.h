/* Reading and writing files. */

#ifndef INPUT_OUTPUT_H
#define INPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "call.h"

/* open(2) with O_CLOEXEC, repeated while it is interrupted. */
int open_retrying(const char *path, int flags, mode_t mode);

/* Reads up to a number of bytes, fewer only at the end of the file; -1 with errno set. */
ssize_t read_up_to(int descriptor, char *bytes, size_t limit);

/* Writes all bytes, and waits for a non-blocking pipe; false, with errno set, where that fails. */
bool write_all(int descriptor, const char *bytes, size_t length);

/* Closes a file that was written, and returns the errno of the write; else that of close(2). 0 if both went well. */
int close_written(int descriptor, bool written);

/* Opens the file of a call, which exists, without blocking on a FIFO; -1, with an exception thrown and errno
 * set, where that fails. */
int open_existing(const struct call *call, int flags);

/* Bytes that were read. */
struct bytes {
  char *start;
  size_t length;
};

/* Reads to the end as read_all does; returns the errno, or 0. The bytes are to be freed in either case. */
int read_bytes(int descriptor, double limit, int64_t deadline, struct bytes *found);

/*
 * Reads to the end; returns the text, or an exception. More than `limit` bytes is EFBIG. A deadline, in nanoseconds of
 * the monotonic clock, limits the wait for input; without one (0), EAGAIN is an error, as from a FIFO in place of a file.
 */
JSValue read_all(const struct call *call, int descriptor, double limit, int64_t deadline);

/* Reads the file of a call as read_all does. */
JSValue read_path(const struct call *call, double limit, int64_t deadline);

/* A time in nanoseconds. */
int64_t nanoseconds(struct timespec time);

/* The monotonic clock, in nanoseconds. */
int64_t monotonic(void);

#endif
