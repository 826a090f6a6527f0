/*
 * The end of a process that has no memory left: the engine may crash where it has none for the error that it would throw.
 * So the process ends as if it was killed, but a call of a plugin with an error object (CNI SPEC 1.1.0, section 5), unless
 * it has printed already.
 */

#ifndef OUT_OF_MEMORY_H
#define OUT_OF_MEMORY_H

#include <stdbool.h>

/* Whether this is a call of a plugin, and whether something may be on standard output. */
extern bool is_plugin, has_output;

/* Says that there is no memory left, and ends the process. */
_Noreturn void out_of_memory(void);

#endif
