/* The host functions of the operator's tool. */

#ifndef OPERATOR_HOST_H
#define OPERATOR_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quickjs.h>

extern char **environ;

/* How a program is run. */
struct run {
  char **words;
  char **environment;
  /* The most bytes of output. */
  double limit;
  /* When it is killed, with its process group, in nanoseconds of the monotonic clock; 0 for never. */
  int64_t deadline;
  bool captures_stderr;
};

/* Starts a program that writes to `output` and, unless it is -1, `errors`; returns 0 or the errno. */
int start_program(const struct run *run, int output, int errors, pid_t *child);

/* Exit code, standard output and standard error as an array; frees the texts. */
JSValue completed_process(JSContext *ctx, int32_t code, JSValue output, JSValue errors);

/* Converts a list of strings to an array of C strings, ended by NULL; NULL, with an exception thrown, on failure. */
char **strings_of(JSContext *ctx, JSValueConst list);

/* Frees such an array. */
void free_strings(char **texts);

/* Adds `operatorHost` to the global object. */
bool add_operator_host(JSContext *ctx, int count, char **arguments);

#endif
