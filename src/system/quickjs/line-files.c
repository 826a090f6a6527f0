/* Host functions for files of lines. */

#define _GNU_SOURCE
#include "functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocator.h"
#include "input-output.h"
#include "text.h"

enum {
  /* How much of a file is read at a time. */
  PART = 64 * 1024,
  /* A longer line is an error; one has the content of a reservation, which has at most half of that. */
  WINDOW = 512 * 1024,
  /* A longer file is an error where its size is not told. */
  LARGEST = 256 * 1024 * 1024,
};

/* Where the lines go, and what they begin with. */
struct search {
  JSContext *ctx;
  JSValue first;
  struct list found;
  /* The text with which a line begins; without it (NULL) only the first line is wanted. */
  const char *start;
  size_t start_length;
  /* Whether the text may be anywhere in a line, and the first line is one of them. */
  bool anywhere;
  /* Whether a NUL was found, which no file of lines has. */
  bool has_nul;
};

/* Adds the lines that begin with the text; the window begins and ends where lines do. */
static void take_lines(struct search *search, const char *window, const char *end) {
  if (!search->anywhere && JS_IsUndefined(search->first)) {
    const char *line_end = memchr(window, '\n', (size_t)(end - window));
    search->first = new_text(search->ctx, window, (size_t)(line_end - window));
    window = line_end + 1;
  }
  if (!search->start) return;
  const char *at = window;
  while ((at = memmem(at, (size_t)(end - at), search->start, search->start_length))) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    if (!line_end) break;
    const char *before = at == window ? NULL : memrchr(window, '\n', (size_t)(at - window));
    const char *line = before ? before + 1 : window;
    if (search->anywhere || at == line) {
      append(search->ctx, &search->found, new_text(search->ctx, line, (size_t)(line_end - line)));
    }
    at = line_end + 1;
  }
}

/* Looks through as many bytes as the file has, `left`, of which none are left then. Returns 0 or the errno. */
static int search_file(struct search *search, int descriptor, off_t *left) {
  size_t capacity = *left < WINDOW ? (size_t)*left + 1 : WINDOW, length = 0;
  char *window = xrealloc(NULL, capacity);
  int result = 0;
  while (result == 0 && *left > 0) {
    size_t room = capacity - length;
    ssize_t count = read(descriptor, window + length, room < PART ? room : PART);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) result = errno;
    if (count <= 0) break;
    search->has_nul |= memchr(window + length, 0, (size_t)count) != NULL;
    length += (size_t)count;
    *left -= count;
    char *last = memrchr(window, '\n', length);
    if (last) {
      take_lines(search, window, last + 1);
      if (!search->start) break;
      length -= (size_t)(last + 1 - window);
      memmove(window, last + 1, length);
    } else if (length == capacity) {
      result = EFBIG;
    }
  }
  free(window);
  return result;
}

JSValue host_find_lines(struct call *call) {
  JSContext *ctx = call->ctx;
  struct search search = {.ctx = ctx, .first = JS_UNDEFINED};
  if (!JS_IsUndefined(call->args[1])) {
    search.start = text_at(call, 1, &search.start_length);
  }
  int descriptor = open_existing(call, O_RDONLY | O_NOFOLLOW);
  if (descriptor < 0) return JS_EXCEPTION;
  struct stat file;
  if (fstat(descriptor, &file) < 0) {
    int error = errno;
    close(descriptor);
    return throw_errno(call, "stat", error);
  }
  search.found.array = JS_NewArray(ctx);
  off_t left = file.st_size;
  int error = search_file(&search, descriptor, &left);
  close(descriptor);
  if (error != 0) throw_errno(call, "read", error);
  if (search.has_nul) {
    JS_FreeValue(ctx, search.first);
    JS_FreeValue(ctx, search.found.array);
    search.first = JS_UNDEFINED;
    search.found.array = JS_NewArray(ctx);
  }
  if (JS_IsUndefined(search.first)) search.first = JS_NewString(ctx, "");
  /* Where the file ended early, lines may be missing: then its length is not that of the seal. */
  off_t size = search.start ? file.st_size - left : file.st_size;
  const struct member members[] = {
      {"first", search.first},
      {"found", search.found.array},
      {"size", error == 0 ? JS_NewInt64(ctx, size) : JS_EXCEPTION},
  };
  return object_of(ctx, members, sizeof members / sizeof members[0]);
}

JSValue host_lines_with(struct call *call) {
  struct search search = {.ctx = call->ctx, .first = JS_UNDEFINED, .anywhere = true};
  search.start = text_at(call, 1, &search.start_length);
  int descriptor = open_existing(call, O_RDONLY | O_NOFOLLOW);
  if (descriptor < 0) return JS_EXCEPTION;
  search.found.array = JS_NewArray(call->ctx);
  /* The kernel tells no size of its files; anything but a file may have no end. */
  off_t left = LARGEST;
  struct stat file;
  int error = fstat(descriptor, &file) < 0 ? errno : S_ISREG(file.st_mode) ? 0 : EINVAL;
  if (error == 0) error = search_file(&search, descriptor, &left);
  if (error == 0 && left == 0) error = EFBIG;
  close(descriptor);
  if (error == 0) return search.found.array;
  JS_FreeValue(call->ctx, search.found.array);
  return throw_errno(call, "read", error);
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

JSValue host_extend_file(struct call *call) {
  size_t length, header_length;
  const char *text = text_at(call, 1, &length);
  const char *header = text_at(call, 2, &header_length);
  int descriptor = open_existing(call, O_WRONLY | O_NOFOLLOW);
  if (descriptor < 0) return JS_EXCEPTION;
  bool written = extend(descriptor, text, length, header, header_length);
  int error = close_written(descriptor, written);
  return error == 0 ? JS_UNDEFINED : throw_errno(call, "write", error);
}

/* One call of the kernel, which no other process's comes between. A part of the line is what a full disk takes. */
static bool write_at_once(int descriptor, const char *line, size_t length) {
  ssize_t written;
  do written = write(descriptor, line, length);
  while (written < 0 && errno == EINTR);
  if (written >= 0 && (size_t)written < length) errno = ENOSPC;
  return written == (ssize_t)length;
}

JSValue host_append_line(struct call *call) {
  size_t length;
  const char *line = text_at(call, 1, &length);
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  int descriptor = open_retrying(call->path, flags, (mode_t)number_at(call, 2));
  if (descriptor < 0) return throw_errno(call, "open", errno);
  int error = close_written(descriptor, write_at_once(descriptor, line, length));
  return error == 0 ? JS_UNDEFINED : throw_errno(call, "write", error);
}
