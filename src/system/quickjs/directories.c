/* Host functions for directories. */

#define _GNU_SOURCE
#include "functions.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input-output.h"

/* An interface name has at most this many bytes. */
enum { LONGEST_WORD = 15 };

JSValue host_make_directory(struct call *call) {
  return done(call, mkdir(call->path, (mode_t)number_at(call, 1)));
}

/* What is done with each name; false where it threw. */
typedef bool visit_name(const struct call *call, void *data, const char *name);

/* Calls `visit` with every name in a directory, and closes it; returns false with an exception thrown. */
static bool visit_names(const struct call *call, DIR *directory, visit_name *visit, void *data) {
  bool completed = true;
  while (completed) {
    errno = 0;
    const struct dirent *entry = readdir(directory);
    if (!entry) {
      if (errno == 0) break;
      throw_errno(call, "readdir", errno);
      completed = false;
    } else if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      completed = visit(call, data, entry->d_name);
    }
  }
  closedir(directory);
  return completed;
}

static bool add_name(const struct call *call, void *data, const char *name) {
  return append(call->ctx, data, JS_NewString(call->ctx, name));
}

JSValue host_list(struct call *call) {
  DIR *directory = opendir(call->path);
  if (!directory) return throw_errno(call, "open", errno);
  struct list names = {.array = JS_NewArray(call->ctx)};
  if (visit_names(call, directory, add_name, &names)) return names.array;
  JS_FreeValue(call->ctx, names.array);
  return JS_EXCEPTION;
}

/* The result of host_list_addresses as it grows. */
struct addresses {
  uint32_t *quads;
  size_t count, capacity;
  struct list others;
};

static bool add_address(const struct call *call, void *data, const char *name) {
  struct addresses *addresses = data;
  struct in_addr quad;
  /* It accepts four octets without leading zeros, and nothing else. */
  if (inet_pton(AF_INET, name, &quad) != 1) return add_name(call, &addresses->others, name);
  if (addresses->count == addresses->capacity) {
    size_t capacity = addresses->capacity * 2 + 64;
    uint32_t *larger = realloc(addresses->quads, capacity * sizeof *larger);
    if (!larger) return JS_ThrowOutOfMemory(call->ctx), false;
    addresses->quads = larger;
    addresses->capacity = capacity;
  }
  addresses->quads[addresses->count++] = ntohl(quad.s_addr);
  return true;
}

static int compare_quads(const void *a, const void *b) {
  uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
  return (first > second) - (first < second);
}

/* The numbers as an array, in ascending order. */
static JSValue sorted(JSContext *ctx, const struct addresses *addresses) {
  struct list quads = {.array = JS_NewArray(ctx)};
  if (addresses->count > 0) {
    qsort(addresses->quads, addresses->count, sizeof *addresses->quads, compare_quads);
  }
  while (quads.length < addresses->count) {
    if (append(ctx, &quads, JS_NewUint32(ctx, addresses->quads[quads.length]))) continue;
    JS_FreeValue(ctx, quads.array);
    return JS_EXCEPTION;
  }
  return quads.array;
}

JSValue host_list_addresses(struct call *call) {
  JSContext *ctx = call->ctx;
  DIR *directory = opendir(call->path);
  if (!directory) return throw_errno(call, "open", errno);
  struct addresses addresses = {.others.array = JS_NewArray(ctx)};
  bool completed = visit_names(call, directory, add_address, &addresses);
  const struct member members[] = {
      {"quads", completed ? sorted(ctx, &addresses) : JS_EXCEPTION},
      {"others", addresses.others.array},
  };
  free(addresses.quads);
  return object_of(ctx, members, sizeof members / sizeof members[0]);
}

/* The result of host_read_files as it grows. */
struct files {
  DIR *directory;
  /* Room for the content of one file, and one byte that is too many; NULL before the first. */
  char *content;
  size_t limit;
  char *pairs;
  size_t length, capacity;
  uint32_t count;
  struct list others;
};

/* Whether a name has only the characters of addresses. */
static bool is_address_like(const char *name) {
  return name[strspn(name, "0123456789abcdefABCDEF.:")] == '\0';
}

/* The length of the identifier at the beginning of a text; 0 where there is none. */
static size_t identifier_length(const char *text, size_t length) {
  size_t at = 0;
  while (at < length && (isalnum((unsigned char)text[at]) ||
                         (at > 0 && (text[at] == '_' || text[at] == '.' || text[at] == '-')))) {
    at++;
  }
  return at;
}

/* Whether a text is 1 to 15 printable ASCII characters other than `/` and `:`, and not `.` or `..`. */
static bool is_second_word(const char *text, size_t length) {
  if (length == 0 || length > LONGEST_WORD) return false;
  if (text[0] == '.' && (length == 1 || (length == 2 && text[1] == '.'))) return false;
  for (size_t at = 0; at < length; at++) {
    if (text[at] <= ' ' || text[at] > '~' || text[at] == '/' || text[at] == ':') return false;
  }
  return true;
}

/* Makes room for more bytes in `pairs`. */
static bool reserve_bytes(struct files *files, size_t more) {
  if (files->capacity - files->length >= more) return true;
  size_t capacity = files->capacity * 2 + more;
  char *larger = realloc(files->pairs, capacity);
  if (!larger) return false;
  files->pairs = larger;
  files->capacity = capacity;
  return true;
}

/* Adds a line for a file with two words; 1 if it was added, 0 if the file is not such a one, -1 without memory. */
static int add_pair(struct files *files, const char *name, const char *content, size_t length) {
  size_t first = identifier_length(content, length);
  if (first == 0 || length < first + 2 || content[first] != '\r' || content[first + 1] != '\n') {
    return 0;
  }
  const char *second = content + first + 2;
  size_t second_length = length - first - 2, name_length = strlen(name);
  if (!is_second_word(second, second_length) || !is_address_like(name)) return 0;
  if (!reserve_bytes(files, first + second_length + name_length + 3)) return -1;
  char *at = files->pairs + files->length;
  at = mempcpy(at, content, first);
  *at++ = ' ';
  at = mempcpy(at, second, second_length);
  *at++ = ' ';
  at = mempcpy(at, name, name_length);
  *at++ = '\n';
  files->length = (size_t)(at - files->pairs);
  files->count++;
  return 1;
}

/* Adds a file with its content, which is taken over; or the error that it stands for. */
static bool add_other(JSContext *ctx, struct files *files, const char *name, JSValue content) {
  const struct member members[] = {{"name", JS_NewString(ctx, name)}, {"content", content}};
  return append(ctx, &files->others, object_of(ctx, members, 2));
}

static bool add_error(const struct call *call, struct files *files, const char *name,
                      const char *operation, int error) {
  JSContext *ctx = call->ctx;
  char *path;
  if (asprintf(&path, "%s/%s", call->path, name) < 0) return JS_ThrowOutOfMemory(ctx), false;
  JSValue made = system_error(ctx, operation, JS_NewString(ctx, path), error);
  free(path);
  return add_other(ctx, files, name, made);
}

static bool add_file(const struct call *call, void *data, const char *name) {
  JSContext *ctx = call->ctx;
  struct files *files = data;
  /* Without O_NONBLOCK a FIFO would block this call. */
  int descriptor = openat(dirfd(files->directory), name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    /* It was removed meanwhile. */
    return errno == ENOENT || add_error(call, files, name, "open", errno);
  }
  if (!files->content) files->content = malloc(files->limit + 1);
  ssize_t length = files->content ? read_up_to(descriptor, files->content, files->limit + 1) : -1;
  int error = length < 0 ? errno : (size_t)length > files->limit ? EFBIG : 0;
  close(descriptor);
  if (error != 0) return add_error(call, files, name, "read", error);
  int pair = add_pair(files, name, files->content, (size_t)length);
  if (pair < 0) return JS_ThrowOutOfMemory(ctx), false;
  if (pair > 0) return true;
  return add_other(ctx, files, name, JS_NewStringLen(ctx, files->content, (size_t)length));
}

JSValue host_read_files(struct call *call) {
  JSContext *ctx = call->ctx;
  struct files files = {.limit = (size_t)number_at(call, 1), .directory = opendir(call->path)};
  if (!files.directory) return throw_errno(call, "open", errno);
  files.others.array = JS_NewArray(ctx);
  bool completed = visit_names(call, files.directory, add_file, &files);
  free(files.content);
  const char *pairs = files.pairs ? files.pairs : "";
  const struct member members[] = {
      {"pairs", completed ? JS_NewStringLen(ctx, pairs, files.length) : JS_EXCEPTION},
      {"count", JS_NewUint32(ctx, files.count)},
      {"others", files.others.array},
  };
  free(files.pairs);
  return object_of(ctx, members, sizeof members / sizeof members[0]);
}
