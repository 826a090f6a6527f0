/* Reading the files of a call. */

#ifndef READING_H
#define READING_H

#include <stdint.h>

#include "call.h"

/* Opens the file of a call, which exists, without blocking on a FIFO; -1, with an exception thrown and errno
 * set, where that fails. */
int open_existing(const struct call *call, int flags);

/*
 * Reads to the end; returns the text, or an exception. More than `limit` bytes is EFBIG. A deadline, in nanoseconds of
 * the monotonic clock, limits the wait for input; without one (0), EAGAIN is an error, as from a FIFO in place of a file.
 */
JSValue read_all(const struct call *call, int descriptor, double limit, int64_t deadline);

/* Reads the file of a call as read_all does. */
JSValue read_path(const struct call *call, double limit, int64_t deadline);

#endif
