/* What host.c and operator-host.c are both built on. */

#ifndef FILE_CALLS_H
#define FILE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <quickjs.h>

/* Throws {operation, code} for an errno. */
JSValue refuse(JSContext *ctx, const char *operation, int error);

/* A path as C has it; NULL, with an exception thrown, where the value cannot be one. */
const char *path_of(JSContext *ctx, const char *operation, JSValueConst value);

/*
 * Reads to the end; the text, or an exception. More than `limit` bytes is EFBIG. Where there is a deadline, in
 * nanoseconds of the monotonic clock, what is not ready is waited for until then; a FIFO among our files is an error.
 */
JSValue read_all(JSContext *ctx, int descriptor, double limit, int64_t deadline);

int open_retrying(const char *path, int flags, mode_t mode);

bool write_all(int descriptor, const char *bytes, size_t length);

/* A time as one number. */
int64_t nanoseconds(struct timespec time);

/* The monotonic clock, in nanoseconds. */
int64_t monotonic(void);

#endif
