/* See snapshot.h. */

/* The library's own functions of time are replaced below, so here time is as wide as there. */
#ifdef LIBRARY_HAS_NARROW_TIME
#undef _TIME_BITS
#endif
#define _GNU_SOURCE
#include "snapshot.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "allocator.h"
#include "input-output.h"

enum {
  PAGE = 4096,
  MOST_PAGES = 16 * 1024,
  LARGEST_PROGRAM = 1024 * 1024,
};

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
  struct engine *engine = make_engine(JS_NewRuntime(), make);
  limit_stack();
  if (!evaluate(engine->ctx, plugin_program, plugin_program_size)) report_exception(engine->ctx);
  return engine;
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
int __wrap_gettimeofday(struct timeval *time, void *zone);
struct tm *__real_localtime_r(const time_t *time, struct tm *result);
struct tm *__wrap_localtime_r(const time_t *time, struct tm *result);

int __wrap_gettimeofday(struct timeval *time, void *zone) {
  if (!is_building()) return __real_gettimeofday(time, zone);
  *time = (struct timeval){.tv_sec = 1};
  return 0;
}

struct tm *__wrap_localtime_r(const time_t *time, struct tm *result) {
  return is_building() ? gmtime_r(time, result) : __real_localtime_r(time, result);
}

/* A byte for each page that calls write; see allocator.h. Only the build has it: in a call, the room is the call's. */
static uint8_t *written;

#ifdef SNAPSHOT_REHEARSAL

static const uint8_t *known_written(void) { return NULL; }

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
  written = memset(xrealloc(NULL, MOST_PAGES), 0, MOST_PAGES);
  struct sigaction action = {.sa_sigaction = on_write, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  mprotect(snapshot.memory, sizeof snapshot.memory, PROT_READ);
}

void report_written(void) {
  bool reported = write_all(STDERR_FILENO, (const char *)written, MOST_PAGES);
  (void)reported; /* the build sees that nothing was */
}

#else

static const uint8_t *known_written(void) { return written; }

#endif

struct engine *start_engine(make_host *make) {
  (void)make;
  never_free(snapshot.memory, sizeof snapshot.memory);
#ifdef SNAPSHOT_REHEARSAL
  watch_memory();
#endif
  struct engine *engine = resume_engine(&snapshot.head.engine);
  limit_stack();
  return engine;
}

static make_host *maker;
static struct engine *made;
static uint8_t *program;
static size_t program_size;
static bool evaluated;

static void make_snapshot(void) {
  allocate_only_from(snapshot.memory, sizeof snapshot.memory, known_written());
  made = make_engine(JS_NewRuntime2(&allocator, NULL), maker);
  asked_for_machine = false; /* by the engine itself, for its seed */
  JS_UpdateStackTop(made->runtime);
  JS_SetMaxStackSize(made->runtime, idle_memory_size / 2);
  evaluated = evaluate(made->ctx, program, program_size);
  if (!evaluated) report_exception(made->ctx);
  JS_RunGC(made->runtime);
}

/* Standard input has the pages that calls write, and then the plugin: where there is a snapshot, it is needed no more. */
static bool read_input(void) {
  ssize_t length = -1;
  written = xrealloc(NULL, MOST_PAGES);
  program = xrealloc(NULL, LARGEST_PROGRAM);
  if (read_up_to(STDIN_FILENO, (char *)written, MOST_PAGES) >= 0) {
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
  bool serves = JS_IsFunction(made->ctx, serve);
  JS_FreeValue(made->ctx, serve);
  if (asked_for_machine || !serves) {
    fprintf(stderr, "snapshot: the program asks for something of the machine before a call\n");
    return 2;
  }
  snapshot.head.engine = *made;
  snapshot.head.used = allocated();
  fprintf(stderr, "%zu\n", (size_t)snapshot.head.used);
  return write_all(STDOUT_FILENO, (const char *)&snapshot, sizeof snapshot) ? 0 : 2;
}

#endif
