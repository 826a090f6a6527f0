/* Programs that this process runs, one in each place at a time: their start, what they write, their end. */

#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "call.h"

/* How a program is run. */
struct run {
  /* Its path, or a name to look up in PATH. */
  const char *program;
  /* The name that it is called by and its arguments, and its environment; each ended by NULL. */
  char **words, **environment;
  /* When it is killed, with its process group, in nanoseconds of the monotonic clock; 0 for never. */
  int64_t deadline;
  /* Where its output and errors go; -1 where they are captured. */
  int output, errors;
  /* The most bytes of captured output. */
  size_t limit;
};

/* The places of programs, the captured streams of each, and of all. */
enum { PROGRAMS = 2, PIPES = 2, STREAMS = PROGRAMS * PIPES };

/* Starts it; returns 0 or the errno. */
int start_program(int place, const struct run *run);

/*
 * To be called until a program is complete: says what to await, and takes what is there. The end of one interrupts `await`.
 * `until` is brought forward to the next deadline of a program, which is killed there.
 */
int64_t watch_programs(struct pollfd *awaited, int64_t until);
void attend_programs(const struct pollfd *awaited);

/* Whether there is a program in this place, which has ended and closed its output. */
bool is_complete(int place);

/*
 * The complete program as `CompletedProcess`. Throws ETIMEDOUT if it was killed, EFBIG if its output is longer than the
 * limit; its errors are cut.
 */
JSValue completed_process(const struct call *call, int place);

/* Kills the programs and the rest of their process groups. */
void kill_programs(void);

/* From now on a signal arrives during `await` alone, and is missed at no other time. */
void await_signal(int number, void (*handler)(int));

/* Awaits input or output, a signal, or a time of the monotonic clock, in nanoseconds; returns 0 or the errno. */
int await(struct pollfd *awaited, size_t count, int64_t until);

/*
 * An argument of words, each with NUL behind it, as an array that is ended by NULL, and to be freed; NULL, with an exception
 * thrown, without memory.
 */
char **words_at(struct call *call, int at);

#endif
