/*
 * The engine, ready for a call. Reading the plugin and running it up to where it waits for a call is
 * the same work each time, so the build does it once: it runs the linked file, which writes the
 * memory that the engine then has, and puts that back into the file as its section `.snapshot`. The
 * file is not position-independent, so every address in it stays valid. A call copies each page that it
 * writes, so the build rehearses calls, and puts together what they write.
 */

#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include <quickjs.h>

/* What the program gives to the host: the function that serves a call, and the class of the errors of system calls. */
enum given { SERVE, ERROR_CLASS, GIVEN };

/* The engine and what it was given. */
struct engine {
  JSRuntime *runtime;
  JSContext *ctx;
  JSValue given[GIVEN];
};

/* Adds to the global object what the program calls. */
typedef bool add_globals(JSContext *ctx);

/* Whether this file has its snapshot already. */
bool has_snapshot(void);

/*
 * At build time: evaluates the plugin, which standard input has as bytecode, and writes the section to standard output.
 * The exit code, which is not 0 if the plugin asked for anything of the machine.
 */
int write_snapshot(add_globals *add);

/* In a rehearsal: writes to standard error which pages of the snapshot this call has written, a byte for each. */
void report_written(void);

/* The engine as the snapshot has it, or newly made in a file that must not have one; NULL without memory. */
struct engine *start_engine(add_globals *add);

/* Evaluates a program; false if it threw. */
bool evaluate(JSContext *ctx, const uint8_t *bytes, size_t size);

/* Whether a snapshot is being made: then nothing of the machine is in reach. To be called by every host function. */
bool is_building(void);

/* Takes and returns what the program gives. */
void give(JSContext *ctx, enum given what, JSValueConst value);
JSValueConst given(enum given what);

/* Reports an uncaught exception on standard error; whether it is that there is no memory left. */
bool report_exception(JSContext *ctx);

#endif
