/*
 * Texts of the program from bytes of the machine, which need not be UTF-8. As in Go, U+FFFD stands for each byte that begins no
 * character: so a text in JSON, such as the path of a directory, is what it is for the Go plugin. The engine's own
 * function takes such a byte together with what stands behind it, be that a quote, a line end or a slash.
 */

#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

#include <quickjs.h>

/* A text from bytes. */
JSValue new_text(JSContext *ctx, const char *bytes, size_t length);

/* A text with a character, U+0000 to U+00FF, for each byte. */
JSValue new_latin1(JSContext *ctx, const char *bytes, size_t length);

/* A text from bytes that end with NUL. */
JSValue new_text_to_nul(JSContext *ctx, const char *bytes);

#endif
