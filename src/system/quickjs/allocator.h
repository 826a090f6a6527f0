/*
 * The memory of the engine: blocks of size classes with free lists, cut from large pieces, since a
 * call makes thousands of small ones and ends soon: with malloc(3) an ADD takes a fifth more instructions. Where there is
 * no memory left, the process ends.
 */

#ifndef ALLOCATOR_H
#define ALLOCATOR_H

#include <stddef.h>
#include <stdint.h>

#include <quickjs.h>

extern const JSMallocFunctions allocator;

/*
 * From now on every block is cut from this memory, aligned to 16 bytes; when it is used up, there is none. What is
 * written later lies together at its end, so that few pages change. To find out what that is, there is a layout in which
 * every block begins a page (without `written`): with it, `written` has a 1 for each page of that layout that was written.
 * With `written`, what the engine gives back is used again, for what calls do not write. The memory begins a page.
 */
void allocate_only_from(uint8_t *memory, size_t size, const uint8_t *written);

/* realloc(3), which always succeeds. */
void *xrealloc(void *block, size_t size);

/* Is not used with `allocate_only_from`. */
extern uint8_t *const idle_memory;
extern const size_t idle_memory_size;

/* How much of that memory is needed where blocks begin no page, in bytes. */
size_t allocated(void);

/* Blocks in this memory are never freed: what lies there is as the snapshot has it. */
void never_free(const uint8_t *memory, size_t size);

#endif
