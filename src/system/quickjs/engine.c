/* See engine.h. */

/* The library's own functions of time are replaced below, so here time is as wide as there. */
#ifdef LIBRARY_HAS_NARROW_TIME
#undef _TIME_BITS
#endif
#define _GNU_SOURCE
#include "engine.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "allocator.h"
#include "input-output.h"

enum {
  MEMORY_LIMIT = 1024 * 1024 * 1024,
  STACK_LIMIT = 6 * 1024 * 1024,
  /* How much of the stack the kernel maps when it starts a process, and what of it the engine leaves to C. */
  MAPPED_STACK = 128 * 1024,
  STACK_MARGIN = 32 * 1024,
  PAGE = 4096,
  MOST_PAGES = 16 * 1024,
  LARGEST_PROGRAM = 1024 * 1024,
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

static void make_engine(JSRuntime *runtime, make_host *make) {
  JS_SetMemoryLimit(runtime, MEMORY_LIMIT);
  /* No cycle collection: among a million values it would cost more than the call; all else is reference-counted. */
  JS_SetGCThreshold(runtime, SIZE_MAX);
  JSContext *ctx = new_context(runtime);
  JSValue global = JS_GetGlobalObject(ctx);
  engine = (struct engine){.runtime = runtime, .ctx = ctx, .host = make(ctx)};
  JS_SetPropertyStr(ctx, global, "host", JS_DupValue(ctx, engine.host));
  JS_FreeValue(ctx, global);
}

/* Touches a page, so that the kernel maps the stack down to there. */
__attribute__((noinline)) static void map_stack(size_t size) {
  volatile char *lowest = (char *)__builtin_frame_address(0) - size;
  *lowest = 0;
}

/*
 * With a limited address space the heap may take what the stack needs later, and the kernel ends a process whose stack
 * cannot grow. So it grows now, if there is room. Returns how much of it the engine may use.
 */
static size_t reserve_stack(size_t size) {
  if (size > MAPPED_STACK) {
    void *room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
      size = MAPPED_STACK;
    } else {
      munmap(room, size);
      map_stack(size);
    }
  }
  return size > 2 * STACK_MARGIN ? size - STACK_MARGIN : size / 2;
}

/* Most of this process's stack, so that the engine detects an overflow before the kernel does. */
static size_t stack_limit(void) {
  struct rlimit stack, address_space;
  size_t limit = STACK_LIMIT;
  if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur / 4 * 3 < limit) {
    limit = (size_t)(stack.rlim_cur / 4 * 3);
  }
  if (getrlimit(RLIMIT_AS, &address_space) < 0 || address_space.rlim_cur == RLIM_INFINITY) {
    return limit;
  }
  rlim_t part = address_space.rlim_cur / 8;
  return reserve_stack(part < limit ? (size_t)part : limit);
}

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

#ifdef HOST_CHECKED

/* The plugin, compiled by compiler.c. */
extern const uint8_t plugin_program[];
extern const size_t plugin_program_size;

/* The sanitizers have an allocator of their own, and addresses that change: no snapshot. */
bool has_snapshot(void) { return true; }
bool is_building(void) { return false; }
int write_snapshot(make_host *make) {
  (void)make;
  return 2;
}

struct engine *start_engine(make_host *make) {
  make_engine(JS_NewRuntime(), make);
  JS_SetMaxStackSize(engine.runtime, stack_limit());
  if (!evaluate(engine.ctx, plugin_program, plugin_program_size)) report_exception(engine.ctx);
  return &engine;
}

#else

/* The section. Made by the build; `used` is 0 before. */
static struct {
  union {
    struct {
      uint64_t used;
      struct engine engine;
    } head;
    uint8_t page[PAGE];
  };
  uint8_t memory[SNAPSHOT_SIZE];
} snapshot __attribute__((section(".snapshot"), aligned(PAGE)));

static bool building;
static bool asked_for_machine;

bool has_snapshot(void) { return snapshot.head.used > 0; }

bool is_building(void) {
  if (building) asked_for_machine = true;
  return building;
}

/*
 * The engine's own calls of the C library, by the linker's --wrap: what a built-in such as Date asks
 * for would stay as it was at build time. The seed of random numbers is taken from the clock when a
 * context is made, hence one that is always the same, and so are two builds.
 */
#ifdef LIBRARY_HAS_WIDE_TIME
#define __real_gettimeofday __real___gettimeofday64
#define __wrap_gettimeofday __wrap___gettimeofday64
#define __real_localtime_r __real___localtime64_r
#define __wrap_localtime_r __wrap___localtime64_r
#endif
int __real_gettimeofday(struct timeval *time, void *zone);
int __wrap_gettimeofday(struct timeval *time, void *zone) {
  if (!is_building()) return __real_gettimeofday(time, zone);
  *time = (struct timeval){.tv_sec = 1};
  return 0;
}

struct tm *__real_localtime_r(const time_t *time, struct tm *result);
struct tm *__wrap_localtime_r(const time_t *time, struct tm *result) {
  return is_building() ? gmtime_r(time, result) : __real_localtime_r(time, result);
}

/* The pages that calls write; see allocator.h. */
static uint8_t written[MOST_PAGES] __attribute__((aligned(PAGE)));

#ifdef SNAPSHOT_REHEARSAL

static const uint8_t *const known_written = NULL;

static void on_write(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  size_t page = ((uintptr_t)info->si_addr - (uintptr_t)snapshot.memory) / PAGE;
  if (page >= sizeof snapshot.memory / PAGE ||
      mprotect(snapshot.memory + page * PAGE, PAGE, PROT_READ | PROT_WRITE) < 0) {
    _exit(2);
  }
  written[page] = 1;
}

static void watch_memory(void) {
  struct sigaction action = {.sa_sigaction = on_write, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  mprotect(snapshot.memory, sizeof snapshot.memory, PROT_READ);
}

void report_written(void) {
  bool reported = write_all(STDERR_FILENO, (const char *)written, sizeof written);
  (void)reported; /* the build sees that nothing was */
}

#else

static const uint8_t *const known_written = written;

#endif

struct engine *start_engine(make_host *make) {
  (void)make;
  never_free(snapshot.memory, sizeof snapshot.memory);
  engine = snapshot.head.engine;
#ifdef SNAPSHOT_REHEARSAL
  watch_memory();
#endif
  JS_UpdateStackTop(engine.runtime);
  JS_SetMaxStackSize(engine.runtime, stack_limit());
  return &engine;
}

static make_host *maker;
static uint8_t *program;
static size_t program_size;
static bool evaluated;

static void make_snapshot(void) {
  allocate_only_from(snapshot.memory, sizeof snapshot.memory, known_written);
  make_engine(JS_NewRuntime2(&allocator, NULL), maker);
  asked_for_machine = false; /* by the engine itself, for its seed */
  JS_UpdateStackTop(engine.runtime);
  JS_SetMaxStackSize(engine.runtime, idle_memory_size / 2);
  evaluated = evaluate(engine.ctx, program, program_size);
  if (!evaluated) report_exception(engine.ctx);
  JS_RunGC(engine.runtime);
}

/* Standard input has the pages that calls write, and then the plugin: where there is a snapshot, it is needed no more. */
static bool read_input(void) {
  ssize_t length = -1;
  program = xrealloc(NULL, LARGEST_PROGRAM);
  if (read_up_to(STDIN_FILENO, (char *)written, sizeof written) >= 0) {
    length = read_up_to(STDIN_FILENO, (char *)program, LARGEST_PROGRAM);
  }
  program_size = (size_t)length;
  return length >= 0;
}

int write_snapshot(make_host *make) {
  building = true;
  maker = make;
  if (!read_input()) return 2;
  /* On a stack that is always at the same place, since the engine remembers where its own is. */
  static ucontext_t here, there;
  if (getcontext(&there) < 0) return 2;
  there.uc_stack.ss_sp = idle_memory;
  there.uc_stack.ss_size = idle_memory_size;
  there.uc_link = &here;
  makecontext(&there, make_snapshot, 0);
  if (swapcontext(&here, &there) < 0 || !evaluated) return 2;
  JSValue serve = given("serve");
  bool serves = JS_IsFunction(engine.ctx, serve);
  JS_FreeValue(engine.ctx, serve);
  if (asked_for_machine || !serves) {
    fprintf(stderr, "snapshot: the program asks for something of the machine before a call\n");
    return 2;
  }
  snapshot.head.engine = engine;
  snapshot.head.used = allocated();
  fprintf(stderr, "%zu\n", (size_t)snapshot.head.used);
  return write_all(STDOUT_FILENO, (const char *)&snapshot, sizeof snapshot) ? 0 : 2;
}

#endif
