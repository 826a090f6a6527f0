/* See allocator.h. */

#include "allocator.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "out-of-memory.h"

enum {
  UNIT = 16,
  /* Before each block: its usable size. The blocks themselves are aligned to a unit. */
  HEADER = 8,
  /* Blocks of up to this many units, header included, have a size class; larger ones come from malloc. */
  CLASSES = 64,
  LARGEST_SMALL = CLASSES * UNIT - HEADER,
  PIECE = 256 * 1024,
  FIRST_PIECE = 128 * 1024,
  PAGE = 4096,
};

/* What a free block holds. */
struct free_block {
  struct free_block *next;
};

static struct free_block *free_lists[CLASSES + 1];

/* An ordinary call needs no more: no system call for memory. */
static uint8_t first_piece[FIRST_PIECE] __attribute__((aligned(PAGE)));

uint8_t *const idle_memory = first_piece;
const size_t idle_memory_size = FIRST_PIECE;

/* What is left of the present piece. */
static uint8_t *piece = first_piece;
static uint8_t *piece_end = first_piece + FIRST_PIECE;

/* Where the only memory begins, if there is such, and what has been cut from it. */
static uint8_t *only_memory;
static size_t only_memory_used;

/* Large blocks of it that the engine has given back, as its tables do when they grow. */
static struct free_block *given_back;

/* See `allocate_only_from`; where every block begins a page, the next one begins this one. */
static const uint8_t *written_pages;
static size_t next_page;

static const uint8_t *kept;
static size_t kept_size;

void *xrealloc(void *block, size_t size) {
  void *moved = realloc(block, size);
  if (!moved) out_of_memory();
  return moved;
}

static bool is_kept(const void *block) { return (uintptr_t)block - (uintptr_t)kept < kept_size; }

static size_t *size_of(void *block) { return (size_t *)block - 1; }

static size_t usable_size(const void *block) { return block ? ((const size_t *)block)[-1] : 0; }

/* How many units a block of this size takes. */
static size_t class_of(size_t size) { return (size + HEADER + UNIT - 1) / UNIT; }

/* Cuts a block from the end of what was given back; NULL where there is no room. */
static uint8_t *cut_given_back(size_t size) {
  for (struct free_block **at = &given_back; *at; at = &(*at)->next) {
    struct free_block *block = *at;
    size_t room = usable_size(block) + HEADER;
    if (room < size) continue;
    if (room == size) *at = block->next;
    else *size_of(block) -= size;
    return (uint8_t *)block + room - size;
  }
  return NULL;
}

/* See `allocate_only_from`. */
static void *cut_only_memory(size_t size) {
  uint8_t *block;
  size_t pages = (UNIT + size + PAGE - 1) / PAGE, page = next_page;
  size_t taken = written_pages ? size : pages * PAGE;
  next_page += pages;
  bool is_written = written_pages && memchr(written_pages + page, 1, pages);
  if (written_pages && !is_written && (block = cut_given_back(size))) {
    *size_of(block) = size - HEADER;
    return block;
  }
  if ((size_t)(piece_end - piece) < taken + UNIT) out_of_memory();
  only_memory_used += size;
  if (is_written) {
    block = piece_end -= size;
  } else {
    block = piece + UNIT;
    piece += taken;
  }
  *size_of(block) = size - HEADER;
  return block;
}

static void *cut(size_t units) {
  size_t size = units * UNIT;
  if (only_memory) return cut_only_memory(size);
  if ((size_t)(piece_end - piece) < size + HEADER) {
    piece = xrealloc(NULL, PIECE);
    piece_end = piece + PIECE;
  }
  /* Room for a header stays unused at the beginning of a piece, so that blocks are aligned. */
  uint8_t *block = piece + UNIT;
  piece += size;
  *size_of(block) = size - HEADER;
  return block;
}

static void *allocate_small(size_t units) {
  struct free_block *block = free_lists[units];
  if (!block) return cut(units);
  free_lists[units] = block->next;
  return block;
}

/* Gives a large block, whose header is a whole unit with its size, for alignment. */
static void *allocate_large(void *block, size_t size) {
  uint8_t *memory = xrealloc(block ? (uint8_t *)block - UNIT : NULL, size + UNIT);
  *size_of(memory + UNIT) = size;
  return memory + UNIT;
}

/* Ends the process where there is no room for a block, in place of one of another size. */
static void require_room(const JSMallocState *state, size_t size, size_t before) {
  size_t limit = state->malloc_limit;
  if (size > limit || state->malloc_size - before > limit - size) out_of_memory();
}

static void *allocate(JSMallocState *state, size_t size) {
  require_room(state, size, 0);
  bool is_small = size <= LARGEST_SMALL;
  void *block = is_small      ? allocate_small(class_of(size))
                : only_memory ? cut(class_of(size))
                              : allocate_large(NULL, size);
  state->malloc_count++;
  state->malloc_size += usable_size(block);
  return block;
}

static void release(JSMallocState *state, void *block) {
  if (!block || is_kept(block)) return;
  size_t size = usable_size(block);
  state->malloc_count--;
  state->malloc_size -= size;
  if (size <= LARGEST_SMALL) {
    struct free_block *freed = block;
    freed->next = free_lists[class_of(size)];
    free_lists[class_of(size)] = freed;
  } else if (only_memory) {
    struct free_block *large = block;
    large->next = given_back;
    given_back = large;
  } else {
    free((uint8_t *)block - UNIT);
  }
}

static void *reallocate(JSMallocState *state, void *block, size_t size) {
  if (!block) return size == 0 ? NULL : allocate(state, size);
  if (size == 0) {
    release(state, block);
    return NULL;
  }
  size_t before = usable_size(block);
  bool is_in_piece = before <= LARGEST_SMALL || only_memory || is_kept(block);
  if (is_in_piece && size <= before) return block;
  if (is_in_piece || size <= LARGEST_SMALL) {
    void *moved = allocate(state, size);
    memcpy(moved, block, before < size ? before : size);
    release(state, block);
    return moved;
  }
  require_room(state, size, before);
  state->malloc_size += size - before;
  return allocate_large(block, size);
}

const JSMallocFunctions allocator = {allocate, release, reallocate, usable_size};

void allocate_only_from(uint8_t *memory, size_t size, const uint8_t *written) {
  only_memory = piece = memory;
  piece_end = memory + size;
  written_pages = written;
}

size_t allocated(void) { return only_memory_used + 2 * UNIT; }

void never_free(const uint8_t *memory, size_t size) {
  kept = memory;
  kept_size = size;
}
