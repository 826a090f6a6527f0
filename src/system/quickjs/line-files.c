/* Files of lines: see line-files.h. */

#define _GNU_SOURCE
#include "line-files.h"
#include "file-calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  /* How much of a file is looked through at a time; a longer line needs more. */
  FIRST_WINDOW = 64 * 1024,
  LONGEST_LINE = 1024 * 1024,
};

/* Where the lines go, and what they begin with. */
struct search {
  JSContext *ctx;
  JSValue first, found;
  bool has_first;
  uint32_t count;
  /* A line end, and the text with which a line begins; without text (NULL) only the first line is wanted. */
  const char *pattern;
  size_t pattern_length;
};

/* Adds the lines that begin with the text; the window begins and ends where lines do. Returns false on an exception. */
static bool take_lines(struct search *search, const char *window, const char *end) {
  if (!search->has_first) {
    const char *line_end = memchr(window, '\n', (size_t)(end - window));
    search->first = JS_NewStringLen(search->ctx, window, (size_t)(line_end - window));
    search->has_first = true;
    if (JS_IsException(search->first)) return false;
    window = line_end + 1;
  }
  if (!search->pattern || window == end) return true;
  const char *text = search->pattern + 1;
  size_t length = search->pattern_length - 1;
  const char *line = window;
  if ((size_t)(end - line) < length || memcmp(line, text, length) != 0) {
    line = memmem(window, (size_t)(end - window), search->pattern, search->pattern_length);
    if (line) line++;
  }
  while (line) {
    const char *line_end = memchr(line, '\n', (size_t)(end - line));
    if (!line_end) return true;
    JSValue value = JS_NewStringLen(search->ctx, line, (size_t)(line_end - line));
    if (JS_IsException(value)) return false;
    if (JS_SetPropertyUint32(search->ctx, search->found, search->count++, value) < 0) return false;
    line = memmem(line_end, (size_t)(end - line_end), search->pattern, search->pattern_length);
    if (line) line++;
  }
  return true;
}

/* Looks through as many bytes as the file has, `left`, of which none are left then. Returns 0, the errno, or -1 with an exception thrown. */
static int search_file(struct search *search, int descriptor, off_t *left) {
  size_t capacity = FIRST_WINDOW, length = 0;
  char *window = malloc(capacity);
  int result = window ? 0 : ENOMEM;
  while (result == 0 && *left > 0) {
    ssize_t count = read(descriptor, window + length, capacity - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) result = errno;
    if (count <= 0) break;
    length += (size_t)count;
    *left -= count;
    char *last = memrchr(window, '\n', length);
    if (last) {
      if (!take_lines(search, window, last + 1)) result = -1;
      else if (!search->pattern) break;
      length -= (size_t)(last + 1 - window);
      memmove(window, last + 1, length);
    } else if (length == capacity) {
      char *larger = capacity < LONGEST_LINE ? realloc(window, capacity * 2) : NULL;
      if (larger) {
        window = larger;
        capacity *= 2;
      } else {
        result = capacity < LONGEST_LINE ? ENOMEM : EFBIG;
      }
    }
  }
  free(window);
  return result;
}

/* [first line, lines found, size]; where lines are wanted, the size is of what was looked through. */
static JSValue lines_in(JSContext *ctx, int descriptor, const char *pattern, size_t pattern_length) {
  struct stat file;
  if (fstat(descriptor, &file) < 0) return throw_errno(ctx, "stat", errno);
  struct search search = {
      .ctx = ctx,
      .first = JS_UNDEFINED,
      .found = JS_NewArray(ctx),
      .pattern = pattern,
      .pattern_length = pattern_length,
  };
  off_t left = file.st_size;
  int error = JS_IsException(search.found) ? -1 : search_file(&search, descriptor, &left);
  if (!search.has_first && error == 0) search.first = JS_NewString(ctx, "");
  /* Where the file ended early, lines may be missing: then its length is not that of the seal. */
  double size = (double)(search.pattern ? file.st_size - left : file.st_size);
  JSValue lines = error == 0 ? JS_NewArray(ctx) : JS_UNDEFINED;
  if (error != 0 || JS_IsException(lines)) {
    JS_FreeValue(ctx, search.first);
    JS_FreeValue(ctx, search.found);
    return error > 0 ? throw_errno(ctx, "read", error) : JS_EXCEPTION;
  }
  bool set = JS_SetPropertyUint32(ctx, lines, 0, search.first) >= 0;
  set = JS_SetPropertyUint32(ctx, lines, 1, search.found) >= 0 && set;
  set = JS_SetPropertyUint32(ctx, lines, 2, JS_NewFloat64(ctx, size)) >= 0 && set;
  if (set) return lines;
  JS_FreeValue(ctx, lines);
  return JS_EXCEPTION;
}

JSValue host_find_lines(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  int descriptor = open_existing(ctx, args[0], O_RDONLY | O_NOFOLLOW);
  if (descriptor < 0) return JS_EXCEPTION;
  size_t length = 0;
  const char *start = JS_IsUndefined(args[1]) ? NULL : JS_ToCStringLen(ctx, &length, args[1]);
  char *pattern = start ? malloc(length + 1) : NULL;
  if (pattern) {
    *pattern = '\n';
    memcpy(pattern + 1, start, length);
  }
  JSValue lines = JS_EXCEPTION;
  if (pattern || JS_IsUndefined(args[1])) lines = lines_in(ctx, descriptor, pattern, length + 1);
  else if (start) JS_ThrowOutOfMemory(ctx);
  free(pattern);
  if (start) JS_FreeCString(ctx, start);
  close(descriptor);
  return lines;
}

static bool extend(int descriptor, const char *text, size_t length, const char *header,
                   size_t header_length) {
  if (length > 0 && (lseek(descriptor, 0, SEEK_END) < 0 || !write_all(descriptor, text, length))) {
    return false;
  }
  ssize_t written = pwrite(descriptor, header, header_length, 0);
  /* The header lies within a block that the file has: it is written as a whole or not at all. */
  if (written >= 0 && (size_t)written < header_length) errno = EIO;
  return written == (ssize_t)header_length;
}

JSValue host_extend_file(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  int descriptor = open_existing(ctx, args[0], O_WRONLY | O_NOFOLLOW);
  if (descriptor < 0) return JS_EXCEPTION;
  size_t length, header_length;
  const char *text = JS_ToCStringLen(ctx, &length, args[1]);
  const char *header = text ? JS_ToCStringLen(ctx, &header_length, args[2]) : NULL;
  bool written = header && extend(descriptor, text, length, header, header_length);
  int error = errno;
  if (close(descriptor) < 0 && written && errno != EINTR) {
    written = false;
    error = errno;
  }
  bool converted = header != NULL;
  if (text) JS_FreeCString(ctx, text);
  if (header) JS_FreeCString(ctx, header);
  if (!converted) return JS_EXCEPTION;
  return written ? JS_UNDEFINED : throw_errno(ctx, "write", error);
}
