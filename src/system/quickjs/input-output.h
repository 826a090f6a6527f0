/* Reading and writing of open files. */

#ifndef INPUT_OUTPUT_H
#define INPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* open(2) with O_CLOEXEC, repeated while it is interrupted. */
int open_retrying(const char *path, int flags, mode_t mode);

/* Reads up to a number of bytes, fewer only at the end of the file; -1 with errno set. */
ssize_t read_up_to(int descriptor, char *bytes, size_t limit);

/* Writes all bytes, and waits for a non-blocking pipe; false, with errno set, where that fails. */
bool write_all(int descriptor, const char *bytes, size_t length);

/* Closes a file that was written, and returns the errno of the write; else that of close(2). 0 if both went well. */
int close_written(int descriptor, bool written);

/* A time in nanoseconds. */
int64_t nanoseconds(struct timespec time);

/* The monotonic clock, in nanoseconds. */
int64_t monotonic(void);

#endif
