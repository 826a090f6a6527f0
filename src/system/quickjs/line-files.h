/* Host functions for files of lines. */

#ifndef LINE_FILES_H
#define LINE_FILES_H

#include <quickjs.h>

/* findLines(path, start): [the first line, the further ones that begin with `start`, the file's size in bytes]. */
JSValue host_find_lines(JSContext *ctx, JSValueConst self, int count, JSValueConst *args);

/* extendFile(path, text, header): appends the text, then overwrites the beginning. */
JSValue host_extend_file(JSContext *ctx, JSValueConst self, int count, JSValueConst *args);

#endif
