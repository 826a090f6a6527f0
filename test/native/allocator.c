/* Tests of src/system/quickjs/allocator.c: prints what fails, and ends with the number of failures. */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../src/system/quickjs/allocator.h"

static int failures;

static void check(bool holds, const char *what) {
  if (holds) return;
  printf("not so: %s\n", what);
  failures++;
}

static JSMallocState unlimited(void) { return (JSMallocState){.malloc_limit = SIZE_MAX}; }

static void test_sizes(void) {
  JSMallocState state = unlimited();
  bool aligned = true, large_enough = true;
  for (size_t size = 1; size <= 5000; size++) {
    uint8_t *block = allocator.js_malloc(&state, size);
    aligned = aligned && (uintptr_t)block % 16 == 0;
    large_enough = large_enough && allocator.js_malloc_usable_size(block) >= size;
    memset(block, 0xa5, allocator.js_malloc_usable_size(block));
    allocator.js_free(&state, block);
  }
  check(aligned, "blocks are aligned to 16 bytes");
  check(large_enough, "a block is as large as it was asked for");
  check(state.malloc_count == 0 && state.malloc_size == 0, "what is freed is no longer counted");
}

static void test_reuse(void) {
  JSMallocState state = unlimited();
  void *first = allocator.js_malloc(&state, 100);
  allocator.js_free(&state, first);
  check(allocator.js_malloc(&state, 97) == first, "a freed block of the same class is used again");
}

static void test_growth(void) {
  JSMallocState state = unlimited();
  uint8_t *block = allocator.js_malloc(&state, 1);
  block[0] = 0;
  bool kept = true;
  for (size_t size = 1; size < 100000; size = size * 3 / 2 + 1) {
    block = allocator.js_realloc(&state, block, size + 1);
    block[size] = (uint8_t)size;
    for (size_t at = 1; at < size; at = at * 3 / 2 + 1) kept = kept && block[at] == (uint8_t)at;
  }
  for (size_t size = 50000; size > 1; size /= 3) {
    block = allocator.js_realloc(&state, block, size);
    kept = kept && block[1] == 1;
  }
  check(kept, "growing and shrinking keep the content");
  check(allocator.js_realloc(&state, block, 0) == NULL && state.malloc_size == 0,
        "a block of no size is freed");
}

static void test_reserve(void) {
  JSMallocState state = {.malloc_limit = 10000};
  void *blocks[100];
  size_t count = 0, sizes[6];
  for (size_t failure = 0; failure < 6; failure++) {
    while (count < 100 && (blocks[count] = allocator.js_malloc(&state, 1000))) count++;
    sizes[failure] = state.malloc_size;
  }
  for (size_t at = 1; at < 5; at++) {
    check(sizes[at] > sizes[at - 1] + 15000, "after a failure there is a reserve");
  }
  check(sizes[5] == sizes[4] && sizes[5] <= 10000 + 64 * 1024, "the reserve ends");
  while (count > 0) allocator.js_free(&state, blocks[--count]);
}

/* After test_reserve, which leaves nothing of the reserve. */
static void test_limit(void) {
  JSMallocState state = {.malloc_limit = 10000};
  check(allocator.js_malloc(&state, 20000) == NULL, "no block is larger than the limit");
  check(allocator.js_malloc(&state, SIZE_MAX) == NULL, "a size that overflows is refused");
  void *block = allocator.js_malloc(&state, 6000);
  check(block && !allocator.js_malloc(&state, 6000), "all blocks together stay below the limit");
  check(!allocator.js_realloc(&state, block, 12000), "growing stays below the limit");
  check(state.malloc_size == 6000, "what is refused changes nothing");
  allocator.js_free(&state, block);
}

static JSValue evaluate(JSContext *ctx, const char *program) {
  return JS_Eval(ctx, program, strlen(program), "test", JS_EVAL_TYPE_GLOBAL);
}

static void test_engine(void) {
  JSRuntime *runtime = JS_NewRuntime2(&allocator, NULL);
  JSContext *ctx = JS_NewContext(runtime);
  JSValue sum = evaluate(ctx, "let text = '[' + '7,'.repeat(1e6) + '7]', list = JSON.parse(text);"
                              "list.push({ a: [list.length] }); list.at(-1).a[0]");
  int32_t number = 0;
  check(JS_ToInt32(ctx, &number, sum) == 0 && number == 1000001, "a million values");

  JS_SetMemoryLimit(runtime, 64 * 1024 * 1024);
  JSValue more = evaluate(ctx, "for (let all = [];;) all.push(new Array(1000).fill({}))");
  check(JS_IsException(more), "an exception where there is no memory left");
  JS_FreeValue(ctx, JS_GetException(ctx));
  JSMemoryUsage usage;
  JS_ComputeMemoryUsage(runtime, &usage);
  check(usage.malloc_size <= 64 * 1024 * 1024, "the limit is kept");
  JSValue afterwards = evaluate(ctx, "[1, 2].join()");
  check(!JS_IsException(afterwards), "the engine goes on afterwards");
  JS_FreeValue(ctx, afterwards);
  JS_FreeContext(ctx);
  JS_FreeRuntime(runtime);
}

enum { PAGE = 4096 };

static void test_rehearsal(void) {
  static uint8_t memory[5 * PAGE] __attribute__((aligned(PAGE)));
  JSMallocState state = unlimited();
  allocate_only_from(memory, sizeof memory, NULL);
  size_t pages[3], sizes[] = {24, 5000, 24};
  for (size_t at = 0; at < 3; at++) {
    uint8_t *block = allocator.js_malloc(&state, sizes[at]);
    pages[at] = (size_t)(block - memory) / PAGE;
  }
  check(pages[0] == 0 && pages[1] == 1 && pages[2] == 3, "every block begins a page");
  check(allocated() > 5048 && allocated() < 5200, "what they need without that is known");
}

static void test_written(void) {
  static uint8_t memory[2 * PAGE] __attribute__((aligned(PAGE)));
  static const uint8_t written[] = {0, 0, 1, 0, 1};
  JSMallocState state = unlimited();
  allocate_only_from(memory, sizeof memory, written);
  uint8_t *blocks[4];
  size_t sizes[] = {24, 5000, 24, 24};
  for (size_t at = 0; at < 4; at++) blocks[at] = allocator.js_malloc(&state, sizes[at]);
  check(blocks[2] == blocks[0] + 32, "what is not written lies together");
  check(blocks[3] < blocks[1] && blocks[3] + 40 > blocks[1] - 16, "and so does what is");
  check(blocks[1] + allocator.js_malloc_usable_size(blocks[1]) <= memory + sizeof memory,
        "at the end of the memory");
}

static void test_large_blocks(void) {
  static uint8_t memory[2 * PAGE] __attribute__((aligned(PAGE)));
  static const uint8_t written[16];
  JSMallocState state = unlimited();
  allocate_only_from(memory, sizeof memory, written);
  uint8_t *large = allocator.js_malloc(&state, 6000);
  allocator.js_free(&state, large);
  uint8_t *part = allocator.js_malloc(&state, 2000);
  check(part == large, "a freed large block is used again");
  check((uint8_t *)allocator.js_malloc(&state, 3992) == part + allocator.js_malloc_usable_size(part) + 8,
        "and its rest");
}

static void test_kept(void) {
  static uint8_t memory[PAGE] __attribute__((aligned(PAGE)));
  static const uint8_t written[PAGE];
  JSMallocState state = unlimited();
  allocate_only_from(memory, sizeof memory, written);
  uint8_t *block = allocator.js_malloc(&state, 40);
  check(block >= memory && block + 40 <= memory + sizeof memory, "blocks lie in the only memory");
  check(allocated() >= 48 && allocated() < 100, "what is used of it is known");
  check(!allocator.js_malloc(&state, 4060), "when it is used up there is none");
  void *last = NULL;
  for (void *next; (next = allocator.js_malloc(&state, 24)); last = next) {
    check((uint8_t *)next + allocator.js_malloc_usable_size(next) <= memory + sizeof memory,
          "the last block ends in it");
  }
  check(last != NULL, "small blocks fill the rest");

  allocator.js_free(&state, block);
  check(allocator.js_malloc(&state, 40) == block, "a freed block of it is used again");
  never_free(memory, sizeof memory);
  allocator.js_free(&state, block);
  check(!allocator.js_malloc(&state, 40), "kept memory is not used again");
}

/* As a build uses it, if there is an argument, which says how; else as a call does. */
int main(int count, char **arguments) {
  const char *use = count > 1 ? arguments[1] : "call";
  if (strcmp(use, "kept") == 0) test_kept();
  if (strcmp(use, "rehearsal") == 0) test_rehearsal();
  if (strcmp(use, "written") == 0) test_written();
  if (strcmp(use, "large") == 0) test_large_blocks();
  if (strcmp(use, "call") != 0) return failures;
  test_sizes();
  test_reuse();
  test_growth();
  test_reserve();
  test_limit();
  test_engine();
  return failures;
}
