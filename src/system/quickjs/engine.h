/* The engine, ready for a program. */

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

/* The process has one engine: a new one, or one that another process has made, at the same addresses. */
struct engine *make_engine(JSRuntime *runtime, make_host *make);
struct engine *resume_engine(const struct engine *made);

/* Lets the engine throw an error where the process would have no stack left. */
void limit_stack(void);

/* Evaluates a program; false if it threw. */
bool evaluate(JSContext *ctx, const uint8_t *bytes, size_t size);

/* What the program has put into the object `host`; to be freed. */
JSValue given(const char *name);

/* Reports an uncaught exception on standard error. */
void report_exception(JSContext *ctx);

#endif
