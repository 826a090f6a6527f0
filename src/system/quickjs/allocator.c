/* See allocator.h. */

#include "allocator.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
  UNIT = 16,
  /* Before each block: its usable size. The blocks themselves are aligned to a unit. */
  HEADER = 8,
  /* Blocks of up to this many units, header included, have a size class; larger ones come from malloc. */
  CLASSES = 64,
  LARGEST_SMALL = CLASSES * UNIT - HEADER,
  PIECE = 256 * 1024,
  FIRST_PIECE = 128 * 1024,
  RESERVE_PART = 16 * 1024,
  RESERVE_PARTS = 4,
  PAGE = 4096,
};

/* What a free block holds. */
struct free_block {
  struct free_block *next;
};

static struct free_block *free_lists[CLASSES + 1];

/* Free blocks of the only memory that are larger. */
static struct free_block *holes;

/* An ordinary call needs no more: no system call for memory. */
static uint8_t first_piece[FIRST_PIECE] __attribute__((aligned(UNIT)));

uint8_t *const idle_memory = first_piece;
const size_t idle_memory_size = FIRST_PIECE;

/*
 * For what follows a failure: the engine may crash where it has no memory for the error. In parts, since it ignores some
 * failures, and goes on until the next one.
 */
static uint8_t reserve[RESERVE_PARTS][RESERVE_PART] __attribute__((aligned(UNIT)));
static size_t reserve_parts_used;

void (*on_shortage)(void);

/* What is left of the present piece. */
static uint8_t *piece = first_piece;
static uint8_t *piece_end = first_piece + FIRST_PIECE;

/* Where the only memory begins, if there is such, and what has been cut from it. */
static uint8_t *only_memory;
static size_t only_memory_used;

/* See `allocate_only_from`; where every block begins a page, the next one begins this one. */
static const uint8_t *written_pages;
static size_t next_page;

static const uint8_t *kept;
static size_t kept_size;

static bool is_kept(const void *block) { return (uintptr_t)block - (uintptr_t)kept < kept_size; }

static size_t *size_of(const void *block) { return (size_t *)block - 1; }

static size_t usable_size(const void *block) { return block ? *size_of(block) : 0; }

/* How many units a block of this size takes. */
static size_t class_of(size_t size) { return (size + HEADER + UNIT - 1) / UNIT; }

/* Takes the beginning of a free large block of the only memory, whose rest stays one; NULL where none is large enough. */
static void *cut_hole(size_t size) {
  for (struct free_block **at = &holes; *at; at = &(*at)->next) {
    struct free_block *hole = *at;
    size_t left = *size_of(hole) + HEADER - size;
    if (*size_of(hole) + HEADER < size || (left > 0 && left < LARGEST_SMALL)) continue;
    *at = hole->next;
    *size_of(hole) = size - HEADER;
    if (left > 0) {
      struct free_block *rest = (struct free_block *)((uint8_t *)hole + size);
      *size_of(rest) = left - HEADER;
      rest->next = holes;
      holes = rest;
    }
    return hole;
  }
  return NULL;
}

/* See `allocate_only_from`. */
static void *cut_only_memory(size_t size) {
  uint8_t *block = cut_hole(size);
  if (block) return block;
  size_t pages = (UNIT + size + PAGE - 1) / PAGE, page = next_page;
  size_t taken = written_pages ? size : pages * PAGE;
  if ((size_t)(piece_end - piece) < taken + UNIT) return NULL;
  next_page += pages;
  only_memory_used += size;
  if (written_pages && memchr(written_pages + page, 1, pages)) {
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
    uint8_t *next = malloc(PIECE);
    if (!next) return NULL;
    piece = next;
    piece_end = next + PIECE;
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

/* With its size, the header of a large block is a whole unit, for alignment. */
static void *allocate_large(void *block, size_t size) {
  uint8_t *memory = realloc(block ? (uint8_t *)block - UNIT : NULL, size + UNIT);
  if (!memory) return NULL;
  *size_of(memory + UNIT) = size;
  return memory + UNIT;
}

/* Reports a failure, after which blocks are cut from the next part of the reserve. */
static void *fail(JSMallocState *state) {
  if (reserve_parts_used == 0 && on_shortage) on_shortage();
  if (reserve_parts_used == RESERVE_PARTS || only_memory) return NULL;
  piece = reserve[reserve_parts_used++];
  piece_end = piece + RESERVE_PART;
  if (state->malloc_limit <= SIZE_MAX - RESERVE_PART) state->malloc_limit += RESERVE_PART;
  return NULL;
}

static void *allocate(JSMallocState *state, size_t size) {
  if (size > state->malloc_limit || state->malloc_size > state->malloc_limit - size) {
    return fail(state);
  }
  bool is_small = size <= LARGEST_SMALL;
  void *block = is_small      ? allocate_small(class_of(size))
                : only_memory ? cut(class_of(size))
                              : allocate_large(NULL, size);
  if (!block) return fail(state);
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
    struct free_block *hole = block;
    hole->next = holes;
    holes = hole;
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
    if (!moved) return NULL;
    memcpy(moved, block, before < size ? before : size);
    release(state, block);
    return moved;
  }
  size_t others = state->malloc_size - before;
  if (size > state->malloc_limit || others > state->malloc_limit - size) return fail(state);
  void *moved = allocate_large(block, size);
  if (!moved) return fail(state);
  state->malloc_size = others + size;
  return moved;
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
