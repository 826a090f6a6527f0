/* The programs that this process runs, one at a time: their start, what they write, their end. */

#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The streams of a program that may be captured. */
enum { PIPES = 2 };

/*
 * To be called until the program is complete: says what to await, and takes what is there. Its end interrupts `await`.
 * `until` is brought forward to its deadline, at which it is killed.
 */
int64_t watch_program(struct pollfd *awaited, int64_t until);
void attend_program(const struct pollfd *awaited);

/* Whether there is a program, which has ended and closed its output. */
bool is_complete(void);

/* Kills the program and the rest of its process group. */
void kill_program(void);

/* Lets a signal arrive during `await` alone from now on; it is missed at no other time. */
void await_signal(int number, void (*handler)(int));

/* Awaits input or output, a signal, or a time of the monotonic clock, in nanoseconds; returns 0 or the errno. */
int await(struct pollfd *awaited, size_t count, int64_t until);

#endif
