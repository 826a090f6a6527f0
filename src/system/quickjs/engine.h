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

/* The engine, and the global object `host`. */
struct engine {
  JSRuntime *runtime;
  JSContext *ctx;
  JSValue host;
};

/* Makes that object, with the functions that the program calls. */
typedef JSValue make_host(JSContext *ctx);

/* Whether this file has its snapshot already. */
bool has_snapshot(void);

/*
 * At build time: evaluates the plugin, which standard input has as bytecode, and writes the section to standard output.
 * The exit code, which is not 0 if the plugin asked for anything of the machine.
 */
int write_snapshot(make_host *make);

/* In a rehearsal: writes to standard error which pages of the snapshot this call has written, a byte for each. */
void report_written(void);

/* The engine as the snapshot has it, or newly made in a file that must not have one. */
struct engine *start_engine(make_host *make);

/* Evaluates a program; false if it threw. */
bool evaluate(JSContext *ctx, const uint8_t *bytes, size_t size);

/* Whether a snapshot is being made: then nothing of the machine is in reach. To be called by every host function. */
bool is_building(void);

/* What the program has put into the object `host`; to be freed. */
JSValue given(const char *name);

/* Reports an uncaught exception on standard error. */
void report_exception(JSContext *ctx);

#endif
