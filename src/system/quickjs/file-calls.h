/* File functions that host.c and operator-host.c share. */

#ifndef FILE_CALLS_H
#define FILE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <quickjs.h>

/* Throws {operation, code} for an errno. */
JSValue throw_errno(JSContext *ctx, const char *operation, int error);

/* The result of a system call without a return value: undefined or, where it is negative, the error of errno. */
JSValue done(JSContext *ctx, const char *operation, int result);

/* Converts a path to a C string; NULL, with an exception thrown, where it contains NUL. */
const char *path_of(JSContext *ctx, const char *operation, JSValueConst value);

/*
 * Reads to the end; returns the text, or an exception. More than `limit` bytes is EFBIG. A deadline, in nanoseconds of
 * the monotonic clock, limits the wait for input; without one (0), EAGAIN is an error, as from a FIFO in place of a file.
 */
JSValue read_all(JSContext *ctx, int descriptor, double limit, int64_t deadline);

/* Opens a file without blocking on a FIFO, and reads it as read_all does. */
JSValue read_path(JSContext *ctx, JSValueConst path, double limit, int64_t deadline);

/* open(2) with O_CLOEXEC, repeated while it is interrupted. */
int open_retrying(const char *path, int flags, mode_t mode);

/* open_retrying of a path that exists; -1, with an exception thrown, where that fails. Never blocks on a FIFO. */
int open_existing(JSContext *ctx, JSValueConst path, int flags);

/* Writes all bytes, and waits for a non-blocking pipe; false, with errno set, where that fails. */
bool write_all(int descriptor, const char *bytes, size_t length);

/* A time in nanoseconds. */
int64_t nanoseconds(struct timespec time);

/* The monotonic clock, in nanoseconds. */
int64_t monotonic(void);

#endif
