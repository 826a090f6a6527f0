/* See engine.h. */

#define _GNU_SOURCE
#include "engine.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
  MEMORY_LIMIT = 1024 * 1024 * 1024,
  STACK_LIMIT = 6 * 1024 * 1024,
  /* How much of the stack the kernel maps when it starts a process, and what of it the engine leaves to C. */
  MAPPED_STACK = 128 * 1024,
  STACK_MARGIN = 32 * 1024,
  ORDINARY_HEAP = 1024 * 1024,
};

static struct engine engine;

/* Only the built-ins that the programs use. */
static JSContext *new_context(JSRuntime *runtime) {
  JSContext *ctx = JS_NewContextRaw(runtime);
  JS_AddIntrinsicBaseObjects(ctx);
  JS_AddIntrinsicDate(ctx);
  JS_AddIntrinsicRegExpCompiler(ctx);
  JS_AddIntrinsicRegExp(ctx);
  JS_AddIntrinsicJSON(ctx);
  JS_AddIntrinsicMapSet(ctx);
  return ctx;
}

struct engine *make_engine(JSRuntime *runtime, make_host *make) {
  JS_SetMemoryLimit(runtime, MEMORY_LIMIT);
  /* No cycle collection: among a million values it would cost more than the call; all else is reference-counted. */
  JS_SetGCThreshold(runtime, SIZE_MAX);
  JSContext *ctx = new_context(runtime);
  JSValue global = JS_GetGlobalObject(ctx);
  engine = (struct engine){.runtime = runtime, .ctx = ctx, .host = make(ctx)};
  JS_SetPropertyStr(ctx, global, "host", JS_DupValue(ctx, engine.host));
  JS_FreeValue(ctx, global);
  return &engine;
}

struct engine *resume_engine(const struct engine *made) {
  engine = *made;
  JS_UpdateStackTop(engine.runtime);
  return &engine;
}

/* Touches a page, so that the kernel maps the stack down to there. */
__attribute__((noinline)) static void map_stack(size_t size) {
  volatile char *lowest = (char *)__builtin_frame_address(0) - size;
  *lowest = 0;
}

/*
 * With a limited address space the heap may take what the stack needs later, and the kernel ends a process whose stack
 * cannot grow. So it grows now, if there is room for it beside what the heap of an ordinary call needs. Returns how much of
 * it the engine may use.
 */
static size_t reserve_stack(size_t size) {
  if (size > MAPPED_STACK) {
    size_t both = size + ORDINARY_HEAP;
    void *room = mmap(NULL, both, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
      size = MAPPED_STACK;
    } else {
      munmap(room, both);
      map_stack(size);
    }
  }
  return size > 2 * STACK_MARGIN ? size - STACK_MARGIN : size / 2;
}

/* How much of the stack is in use: the environment is there, too, up to a quarter of the limit, and above it a name. */
static size_t used_stack(void) {
  uintptr_t name = getauxval(AT_EXECFN), here = (uintptr_t)__builtin_frame_address(0);
  return name > here ? name - here : 0;
}

/* Most of what this process has left of its stack, so that the engine detects an overflow before the kernel does. */
static size_t stack_limit(void) {
  struct rlimit stack, address_space;
  size_t limit = STACK_LIMIT;
  if (getrlimit(RLIMIT_STACK, &stack) == 0) {
    size_t used = used_stack();
    rlim_t part = stack.rlim_cur > used ? (stack.rlim_cur - used) / 4 * 3 : 0;
    if (part < limit) limit = (size_t)part;
  }
  if (getrlimit(RLIMIT_AS, &address_space) < 0 || address_space.rlim_cur == RLIM_INFINITY) {
    return limit;
  }
  rlim_t part = address_space.rlim_cur / 8;
  return reserve_stack(part < limit ? (size_t)part : limit);
}

void limit_stack(void) { JS_SetMaxStackSize(engine.runtime, stack_limit()); }

bool evaluate(JSContext *ctx, const uint8_t *bytes, size_t size) {
  JSValue program = JS_ReadObject(ctx, bytes, size, JS_READ_OBJ_BYTECODE);
  if (JS_IsException(program)) return false;
  JSValue result = JS_EvalFunction(ctx, program);
  bool completed = !JS_IsException(result);
  JS_FreeValue(ctx, result);
  return completed;
}

JSValue given(const char *name) { return JS_GetPropertyStr(engine.ctx, engine.host, name); }

void report_exception(JSContext *ctx) {
  JSValue exception = JS_GetException(ctx);
  const char *text = JS_ToCString(ctx, exception);
  dprintf(STDERR_FILENO, "host-local: %s\n", text ? text : "exception");
  JS_FreeCString(ctx, text);
  JS_FreeValue(ctx, exception);
}
