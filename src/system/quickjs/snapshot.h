/*
 * The engine after the start of the plugin. Reading the plugin and running it up to where it waits for a call is
 * the same work each time, so the build does it once: it runs the linked file, which writes the
 * memory that the engine then has, and puts that back into the file as its section `.snapshot`. The
 * file is not position-independent, so every address in it stays valid. A call copies each page that it
 * writes, so the build rehearses calls, and puts together what they write.
 */

#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>

#include "engine.h"

/* Whether this file has its snapshot already. */
bool has_snapshot(void);

/*
 * At build time: evaluates the plugin, which standard input has as bytecode, and writes the section to standard output.
 * The exit code, which is not 0 if the plugin asked for anything of the machine.
 */
int write_snapshot(make_host *make);

/* Writes to standard error, in a rehearsal, which pages of the snapshot this call has written, a byte for each. */
void report_written(void);

/* The engine as the snapshot has it, or newly made in a file that must not have one. */
struct engine *start_engine(make_host *make);

/* Whether a snapshot is being made: then nothing of the machine is in reach. To be called by every host function. */
bool is_building(void);

#endif
