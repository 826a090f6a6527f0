/* Host functions for directories. */

#ifndef DIRECTORIES_H
#define DIRECTORIES_H

#include <quickjs.h>

/* list(path): the names, in no order. */
JSValue host_list(JSContext *ctx, JSValueConst self, int count, JSValueConst *args);

/* listAddresses(path): [quads, others], as `Names` in system.ts. */
JSValue host_list_addresses(JSContext *ctx, JSValueConst self, int count, JSValueConst *args);

/*
 * readFiles(path, limit): [pairs, count, others], as `Files` in system.ts. Each of `others` is [name, content] or
 * [name, operation, code].
 */
JSValue host_read_files(JSContext *ctx, JSValueConst self, int count, JSValueConst *args);

/* makeDirectory(path, mode). */
JSValue host_make_directory(JSContext *ctx, JSValueConst self, int count, JSValueConst *args);

/* changeMode(path, mode). */
JSValue host_change_mode(JSContext *ctx, JSValueConst self, int count, JSValueConst *args);

/* removeDirectory(path). */
JSValue host_remove_directory(JSContext *ctx, JSValueConst self, int count, JSValueConst *args);

#endif
