/* Tests of src/system/quickjs/allocator.c: prints what fails, and ends with the number of failures. */

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../src/system/quickjs/allocator.h"
#include "../../src/system/quickjs/out-of-memory.h"

static int failures;

static void check(bool holds, const char *what) {
  if (holds) return;
  printf("not so: %s\n", what);
  failures++;
}

static JSMallocState unlimited(void) { return (JSMallocState){.malloc_limit = SIZE_MAX}; }

static jmp_buf end;

/* The block that `ends` got. */
static void *given;

void out_of_memory(void) { longjmp(end, 1); }

/* Whether resizing a block to this size would end the process; NULL stands for a new block. */
static bool ends(JSMallocState *state, void *block, size_t size) {
  if (setjmp(end) != 0) return true;
  given = allocator.js_realloc(state, block, size);
  return false;
}

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

static void test_limit(void) {
  JSMallocState state = {.malloc_limit = 10000};
  check(ends(&state, NULL, 20000), "no block is larger than the limit");
  check(ends(&state, NULL, SIZE_MAX), "a size that overflows is refused");
  void *block = allocator.js_malloc(&state, 6000);
  check(ends(&state, NULL, 6000), "all blocks together stay below the limit");
  check(ends(&state, block, 12000), "growing stays below the limit");
  check(state.malloc_size == 6000, "what is refused changes nothing");
  check(!ends(&state, block, 9000), "a block that grows counts once");
  allocator.js_free(&state, given);
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

static void test_given_back(void) {
  /* Room for the first block, and for some small ones. */
  static uint8_t memory[5248] __attribute__((aligned(PAGE)));
  /* Of four blocks, the first of which has two pages, only the last is written. */
  static const uint8_t written[PAGE] = {0, 0, 0, 0, 1};
  JSMallocState state = unlimited();
  allocate_only_from(memory, sizeof memory, written);
  uint8_t *large = allocator.js_malloc(&state, 5000);
  size_t before = allocated(), size = allocator.js_malloc_usable_size(large);
  uint8_t *end = large + size;
  memset(large, 0xa5, size);
  allocator.js_free(&state, large);
  uint8_t *small = allocator.js_malloc(&state, 24), *other = allocator.js_malloc(&state, 3000);
  check(small > large && small + 24 <= end && other >= large && other + 3000 < small,
        "a large block that was given back is used again, also for several");
  check((uintptr_t)small % 16 == 0 && (uintptr_t)other % 16 == 0, "and these are aligned");
  memset(small, 0x5a, allocator.js_malloc_usable_size(small));
  memset(other, 0x5a, allocator.js_malloc_usable_size(other));
  check(allocated() == before, "that takes no further memory");
  uint8_t *changed = allocator.js_malloc(&state, 24);
  check(changed > end, "but not for what is written");
  size_t left = allocator.js_malloc_usable_size(large);
  check(large + left == other - 8 && allocator.js_malloc(&state, left) == large, "to the last byte");
  check((uint8_t *)allocator.js_malloc(&state, 24) > end, "and then no more");
}

static void test_kept(void) {
  static uint8_t memory[PAGE] __attribute__((aligned(PAGE)));
  static const uint8_t written[PAGE];
  JSMallocState state = unlimited();
  allocate_only_from(memory, sizeof memory, written);
  uint8_t *block = allocator.js_malloc(&state, 40);
  check(block >= memory && block + 40 <= memory + sizeof memory, "blocks lie in the only memory");
  check(allocated() >= 48 && allocated() < 100, "what is used of it is known");
  check(ends(&state, NULL, 4060), "when it is used up the process ends");
  size_t count = 0;
  while (!ends(&state, NULL, 24)) count++;
  check(count > 120 && count < 128, "small blocks fill the rest, and no more");

  allocator.js_free(&state, block);
  check(allocator.js_malloc(&state, 40) == block, "a freed block of it is used again");
  never_free(memory, sizeof memory);
  allocator.js_free(&state, block);
  check(ends(&state, NULL, 40), "kept memory is not used again");
}

/* Tests the use by a build, which the argument names, or without an argument the use by a call. */
int main(int count, char **arguments) {
  const char *use = count > 1 ? arguments[1] : "call";
  if (strcmp(use, "kept") == 0) test_kept();
  if (strcmp(use, "rehearsal") == 0) test_rehearsal();
  if (strcmp(use, "written") == 0) test_written();
  if (strcmp(use, "given back") == 0) test_given_back();
  if (strcmp(use, "call") != 0) return failures;
  test_sizes();
  test_growth();
  test_limit();
  return failures;
}
