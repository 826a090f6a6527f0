/* Directories: see directories.h. */

#define _GNU_SOURCE
#include "directories.h"
#include "file-calls.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  /* A file that is larger is not a pair; see LONGEST_WORD. */
  PAIR_LIMIT = 4096,
  /* An interface name has at most this many bytes. */
  LONGEST_WORD = 15,
};

/* mkdir(2) and chmod(2): a path and a mode in, nothing out. */
static JSValue with_mode(JSContext *ctx, const char *operation, JSValueConst *args,
                         int (*call)(const char *, mode_t)) {
  uint32_t mode;
  if (JS_ToUint32(ctx, &mode, args[1]) < 0) return JS_EXCEPTION;
  const char *path = path_of(ctx, operation, args[0]);
  if (!path) return JS_EXCEPTION;
  JSValue result = done(ctx, operation, call(path, (mode_t)mode));
  JS_FreeCString(ctx, path);
  return result;
}

JSValue host_make_directory(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  return with_mode(ctx, "mkdir", args, mkdir);
}

JSValue host_change_mode(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  return with_mode(ctx, "chmod", args, chmod);
}

JSValue host_remove_directory(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  const char *path = path_of(ctx, "rmdir", args[0]);
  if (!path) return JS_EXCEPTION;
  JSValue result = done(ctx, "rmdir", rmdir(path));
  JS_FreeCString(ctx, path);
  return result;
}

/* What is done with each name; false where it threw. */
typedef bool visit_name(JSContext *ctx, void *data, const char *name);

/* Calls `visit` with every name in a directory; returns false with an exception thrown. */
static bool visit_names(JSContext *ctx, DIR *directory, visit_name *visit, void *data) {
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir(directory);
    if (!entry) {
      if (errno == 0) return true;
      throw_errno(ctx, "readdir", errno);
      return false;
    }
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    if (!visit(ctx, data, name)) return false;
  }
}

/* As visit_names, for the directory at a path. */
static bool visit_names_at(JSContext *ctx, JSValueConst value, visit_name *visit, void *data) {
  const char *path = path_of(ctx, "open", value);
  if (!path) return false;
  DIR *directory = opendir(path);
  int error = errno;
  JS_FreeCString(ctx, path);
  if (!directory) {
    throw_errno(ctx, "open", error);
    return false;
  }
  bool completed = visit_names(ctx, directory, visit, data);
  closedir(directory);
  return completed;
}

struct names {
  JSValue array;
  uint32_t length;
};

static bool add_name(JSContext *ctx, void *data, const char *name) {
  struct names *names = data;
  JSValue value = JS_NewString(ctx, name);
  if (JS_IsException(value)) return false;
  return JS_SetPropertyUint32(ctx, names->array, names->length++, value) >= 0;
}

JSValue host_list(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  struct names names = {.array = JS_NewArray(ctx)};
  if (JS_IsException(names.array)) return JS_EXCEPTION;
  if (visit_names_at(ctx, args[0], add_name, &names)) return names.array;
  JS_FreeValue(ctx, names.array);
  return JS_EXCEPTION;
}

/* The result of host_list_addresses as it grows. */
struct addresses {
  uint32_t *quads;
  size_t count, capacity;
  struct names others;
};

static bool add_address(JSContext *ctx, void *data, const char *name) {
  struct addresses *addresses = data;
  struct in_addr quad;
  /* It accepts four octets without leading zeros, and nothing else. */
  if (inet_pton(AF_INET, name, &quad) != 1) return add_name(ctx, &addresses->others, name);
  if (addresses->count == addresses->capacity) {
    size_t capacity = addresses->capacity * 2 + 64;
    uint32_t *larger = realloc(addresses->quads, capacity * sizeof *larger);
    if (!larger) return JS_ThrowOutOfMemory(ctx), false;
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

/* [quads, others]; takes over the array of others. */
static JSValue addresses_of(JSContext *ctx, const struct addresses *addresses) {
  JSValue quads = JS_NewArray(ctx), result = JS_NewArray(ctx);
  bool set = !JS_IsException(quads) && !JS_IsException(result);
  for (size_t at = 0; at < addresses->count && set; at++) {
    set = JS_SetPropertyUint32(ctx, quads, (uint32_t)at,
                               JS_NewUint32(ctx, addresses->quads[at])) >= 0;
  }
  if (set) {
    set = JS_SetPropertyUint32(ctx, result, 0, quads) >= 0;
    set = JS_SetPropertyUint32(ctx, result, 1, addresses->others.array) >= 0 && set;
  } else {
    JS_FreeValue(ctx, quads);
    JS_FreeValue(ctx, addresses->others.array);
  }
  if (set) return result;
  JS_FreeValue(ctx, result);
  return JS_EXCEPTION;
}

JSValue host_list_addresses(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  struct addresses addresses = {.others.array = JS_NewArray(ctx)};
  if (JS_IsException(addresses.others.array)) return JS_EXCEPTION;
  JSValue result = JS_EXCEPTION;
  if (visit_names_at(ctx, args[0], add_address, &addresses)) {
    if (addresses.count > 0) {
      qsort(addresses.quads, addresses.count, sizeof *addresses.quads, compare_quads);
    }
    result = addresses_of(ctx, &addresses);
  } else {
    JS_FreeValue(ctx, addresses.others.array);
  }
  free(addresses.quads);
  return result;
}

/* The result of host_read_files as it grows. */
struct files {
  DIR *directory;
  double limit;
  char *pairs;
  size_t length, capacity;
  uint32_t count;
  JSValue others;
  uint32_t other_count;
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

/* Adds [name, first, second], without `second` where that is undefined; false with an exception thrown. */
static bool add_other(JSContext *ctx, struct files *files, const char *name, JSValue first,
                      JSValue second) {
  JSValue other = JS_NewArray(ctx), text = JS_NewString(ctx, name);
  bool added = !JS_IsException(other) && !JS_IsException(text) && !JS_IsException(first) &&
               !JS_IsException(second);
  if (added) added = JS_SetPropertyUint32(ctx, other, 0, text) >= 0;
  else JS_FreeValue(ctx, text);
  if (added) added = JS_SetPropertyUint32(ctx, other, 1, first) >= 0;
  else JS_FreeValue(ctx, first);
  if (added && !JS_IsUndefined(second)) added = JS_SetPropertyUint32(ctx, other, 2, second) >= 0;
  else JS_FreeValue(ctx, second);
  if (added) return JS_SetPropertyUint32(ctx, files->others, files->other_count++, other) >= 0;
  JS_FreeValue(ctx, other);
  return false;
}

static bool add_error(JSContext *ctx, struct files *files, const char *name, const char *operation,
                      int error) {
  const char *code = strerrorname_np(error);
  return add_other(ctx, files, name, JS_NewString(ctx, operation),
                   JS_NewString(ctx, code ? code : "EINVAL"));
}

/* Reads up to a number of bytes; -1 with errno set. */
static ssize_t read_up_to(int descriptor, char *bytes, size_t limit) {
  size_t length = 0;
  while (length < limit) {
    ssize_t count = read(descriptor, bytes + length, limit - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    length += (size_t)count;
  }
  return (ssize_t)length;
}

/* Adds a file whose content is not a pair, of which the beginning has been read. */
static bool add_content(JSContext *ctx, struct files *files, const char *name, int descriptor,
                        const char *start, size_t length) {
  if ((double)length > files->limit) return add_error(ctx, files, name, "read", EFBIG);
  if (length < PAIR_LIMIT) {
    return add_other(ctx, files, name, JS_NewStringLen(ctx, start, length), JS_UNDEFINED);
  }
  size_t limit = (size_t)files->limit;
  char *content = malloc(limit + 1);
  if (!content) return JS_ThrowOutOfMemory(ctx), false;
  memcpy(content, start, length);
  ssize_t count = read_up_to(descriptor, content + length, limit + 1 - length);
  bool added;
  if (count < 0) {
    added = add_error(ctx, files, name, "read", errno);
  } else if (length + (size_t)count > limit) {
    added = add_error(ctx, files, name, "read", EFBIG);
  } else {
    JSValue text = JS_NewStringLen(ctx, content, length + (size_t)count);
    added = add_other(ctx, files, name, text, JS_UNDEFINED);
  }
  free(content);
  return added;
}

static bool add_file(JSContext *ctx, void *data, const char *name) {
  struct files *files = data;
  /* Without O_NONBLOCK a FIFO would block this call. */
  int descriptor = openat(dirfd(files->directory), name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    /* It was removed meanwhile. */
    return errno == ENOENT || add_error(ctx, files, name, "open", errno);
  }
  char content[PAIR_LIMIT];
  ssize_t length = read_up_to(descriptor, content, sizeof content);
  bool added;
  if (length < 0) {
    added = add_error(ctx, files, name, "read", errno);
  } else {
    int pair = length < PAIR_LIMIT ? add_pair(files, name, content, (size_t)length) : 0;
    if (pair < 0) JS_ThrowOutOfMemory(ctx);
    added = pair > 0 ||
            (pair == 0 && add_content(ctx, files, name, descriptor, content, (size_t)length));
  }
  close(descriptor);
  return added;
}

/* [pairs, count, others]; takes over `others`. */
static JSValue result_of(JSContext *ctx, const struct files *files) {
  JSValue result = JS_NewArray(ctx);
  if (JS_IsException(result)) {
    JS_FreeValue(ctx, files->others);
    return JS_EXCEPTION;
  }
  JSValue pairs = JS_NewStringLen(ctx, files->pairs ? files->pairs : "", files->length);
  bool set = JS_SetPropertyUint32(ctx, result, 2, files->others) >= 0;
  set = JS_SetPropertyUint32(ctx, result, 1, JS_NewUint32(ctx, files->count)) >= 0 && set;
  set = JS_SetPropertyUint32(ctx, result, 0, pairs) >= 0 && !JS_IsException(pairs) && set;
  if (set) return result;
  JS_FreeValue(ctx, result);
  return JS_EXCEPTION;
}

JSValue host_read_files(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  struct files files = {.others = JS_UNDEFINED};
  if (JS_ToFloat64(ctx, &files.limit, args[1]) < 0) return JS_EXCEPTION;
  const char *path = path_of(ctx, "open", args[0]);
  if (!path) return JS_EXCEPTION;
  files.directory = opendir(path);
  int error = errno;
  JS_FreeCString(ctx, path);
  if (!files.directory) return throw_errno(ctx, "open", error);
  files.others = JS_NewArray(ctx);
  JSValue result = JS_EXCEPTION;
  if (!JS_IsException(files.others)) {
    if (visit_names(ctx, files.directory, add_file, &files)) result = result_of(ctx, &files);
    else JS_FreeValue(ctx, files.others);
  }
  free(files.pairs);
  closedir(files.directory);
  return result;
}
