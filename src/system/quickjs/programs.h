/* Programs that this process runs, one in each place at a time: their start, what they write, their end. */

#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The places of programs, the captured streams of each, and of all. */
enum { PROGRAMS = 2, PIPES = 2, STREAMS = PROGRAMS * PIPES };

/*
 * To be called until a program is complete: says what to await, and takes what is there. The end of one interrupts `await`.
 * `until` is brought forward to the next deadline of a program, which is killed there.
 */
int64_t watch_programs(struct pollfd *awaited, int64_t until);
void attend_programs(const struct pollfd *awaited);

/* Whether there is a program in this place, which has ended and closed its output. */
bool is_complete(int place);

/* Kills the programs and the rest of their process groups. */
void kill_programs(void);

/* From now on a signal arrives during `await` alone, and is missed at no other time. */
void await_signal(int number, void (*handler)(int));

/* Awaits input or output, a signal, or a time of the monotonic clock, in nanoseconds; returns 0 or the errno. */
int await(struct pollfd *awaited, size_t count, int64_t until);

#endif
