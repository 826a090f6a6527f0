/* Host functions for directories. */

#define _GNU_SOURCE
#include "functions.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocator.h"
#include "input-output.h"
#include "out-of-memory.h"
#include "text.h"

enum {
  /* An interface name has at most this many bytes. */
  LONGEST_WORD = 15,
  WRITABLE_BY_OTHERS = 022,
};

JSValue host_make_directory(struct call *call) {
  return done(call, mkdir(call->path, (mode_t)number_at(call, 1)));
}

/* What is done with each name. */
typedef void visit_name(const struct call *call, void *data, const char *name);

/* Calls `visit` with every name in a directory; returns false with an exception thrown. */
static bool visit_names(const struct call *call, DIR *directory, visit_name *visit, void *data) {
  const struct dirent *entry;
  for (errno = 0; (entry = readdir(directory)); errno = 0) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      visit(call, data, entry->d_name);
    }
  }
  bool completed = errno == 0;
  if (!completed) throw_errno(call, "readdir", errno);
  return completed;
}

static void add_name(const struct call *call, void *data, const char *name) {
  append(call->ctx, data, new_text_to_nul(call->ctx, name));
}

JSValue host_list(struct call *call) {
  DIR *directory = opendir(call->path);
  if (!directory) return throw_errno(call, "open", errno);
  struct list names = {.array = JS_NewArray(call->ctx)};
  bool completed = visit_names(call, directory, add_name, &names);
  closedir(directory);
  if (completed) return names.array;
  JS_FreeValue(call->ctx, names.array);
  return JS_EXCEPTION;
}

/* The result of host_list_addresses as it grows. */
struct addresses {
  uint32_t *quads;
  size_t count, capacity;
  struct list others;
};

/* Adds the number of an IPv4 address; false for any other name. */
static bool add_quad(struct addresses *addresses, const char *name) {
  struct in_addr quad;
  /* It accepts four octets without leading zeros, and nothing else. */
  if (inet_pton(AF_INET, name, &quad) != 1) return false;
  if (addresses->count == addresses->capacity) {
    size_t capacity = addresses->capacity * 2 + 64;
    addresses->quads = xrealloc(addresses->quads, capacity * sizeof *addresses->quads);
    addresses->capacity = capacity;
  }
  addresses->quads[addresses->count++] = ntohl(quad.s_addr);
  return true;
}

static void add_address(const struct call *call, void *data, const char *name) {
  struct addresses *addresses = data;
  if (!add_quad(addresses, name)) add_name(call, &addresses->others, name);
}

static int compare_quads(const void *a, const void *b) {
  uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
  return (first > second) - (first < second);
}

static void sort(struct addresses *addresses) {
  if (addresses->count == 0) return;
  qsort(addresses->quads, addresses->count, sizeof *addresses->quads, compare_quads);
}

/* The numbers as an array, in ascending order. */
static JSValue sorted(JSContext *ctx, struct addresses *addresses) {
  struct list quads = {.array = JS_NewArray(ctx)};
  sort(addresses);
  while (quads.length < addresses->count) {
    append(ctx, &quads, JS_NewUint32(ctx, addresses->quads[quads.length]));
  }
  return quads.array;
}

JSValue host_list_addresses(struct call *call) {
  JSContext *ctx = call->ctx;
  DIR *directory = opendir(call->path);
  if (!directory) return throw_errno(call, "open", errno);
  struct addresses addresses = {.others.array = JS_NewArray(ctx)};
  bool completed = visit_names(call, directory, add_address, &addresses);
  closedir(directory);
  const struct member members[] = {
      {"quads", completed ? sorted(ctx, &addresses) : JS_EXCEPTION},
      {"others", addresses.others.array},
  };
  free(addresses.quads);
  return object_of(ctx, members, sizeof members / sizeof members[0]);
}

/* The result of host_read_files as it grows; `others` of the addresses are the files that are not usual. */
struct files {
  DIR *directory;
  struct addresses addresses;
  /* Room for the content of one file, and one byte that is too many. */
  char *content;
  size_t limit;
  bool has_status;
  FILE *usual;
  uint32_t count;
};

/* Whether a name has only the characters of addresses. */
static bool is_address_like(const char *name) {
  return name[strspn(name, "0123456789abcdefABCDEF.:")] == '\0';
}

/* The length of the identifier at the beginning of a text; 0 where there is none. */
static size_t identifier_length(const char *text) {
  static const char rest[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-";
  return isalnum((unsigned char)text[0]) ? strspn(text, rest) : 0;
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

/* Where the second of two words begins in a content that ends with NUL; NULL if it is not such a one. */
static const char *second_word(const char *content, size_t length) {
  size_t first = identifier_length(content);
  if (first == 0 || length < first + 2 || content[first] != '\r' || content[first + 1] != '\n') {
    return NULL;
  }
  const char *second = content + first + 2;
  return is_second_word(second, length - first - 2) ? second : NULL;
}

/* Reads a file; its length, or -1 where it can be no usual one. */
static ssize_t read_usual(struct files *files, const char *name, struct stat *found) {
  /* Without O_NONBLOCK a FIFO would block this call. */
  int descriptor = openat(dirfd(files->directory), name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return -1;
  bool may_be_usual = !files->has_status ||
                      (fstat(descriptor, found) == 0 && S_ISREG(found->st_mode) &&
                       (found->st_mode & WRITABLE_BY_OTHERS) == 0);
  ssize_t length = may_be_usual ? read_up_to(descriptor, files->content, files->limit + 1) : -1;
  close(descriptor);
  return length <= (ssize_t)files->limit ? length : -1;
}

/* Adds a word of a line. Whether there was room for all is asked in the end. */
static void add_word(struct files *files, const char *word, size_t length, char end) {
  fwrite_unlocked(word, 1, length, files->usual);
  putc_unlocked(end, files->usual);
}

/* Adds a line for a file, if it is a usual one; `octets` is its name as a number, or empty. */
static bool add_usual(struct files *files, const char *name, const char *octets) {
  struct stat found;
  ssize_t length = read_usual(files, name, &found);
  if (length < 0) return false;
  files->content[length] = '\0';
  const char *second = second_word(files->content, (size_t)length);
  if (!second) return false;
  const char *end = files->content + length;
  add_word(files, files->content, (size_t)(second - files->content) - 2, ' ');
  add_word(files, second, (size_t)(end - second), ' ');
  add_word(files, name, strlen(name), files->has_status ? ' ' : '\n');
  if (files->has_status) {
    /* The inode is signed, as in a status. */
    fprintf(files->usual, "%lld,%lld %lld %s\n", (long long)(int64_t)found.st_ino,
            (long long)nanoseconds(found.st_mtim), (long long)nanoseconds(found.st_ctim), octets);
  }
  files->count++;
  return true;
}

/* Adds a file as host_open_file opens it, or the error; nothing where it was removed meanwhile. */
static void add_opened(const struct call *call, struct files *files, const char *name) {
  JSContext *ctx = call->ctx;
  char *path;
  int length = asprintf(&path, "%s/%s", call->path, name);
  if (length < 0) out_of_memory();
  struct call opening = *call;
  opening.path = path;
  opening.path_length = (size_t)length;
  JSValue file = host_open_file(&opening);
  bool is_gone = JS_IsException(file) && errno == ENOENT;
  if (JS_IsException(file)) file = JS_GetException(ctx);
  free(path);
  if (is_gone) {
    JS_FreeValue(ctx, file);
    return;
  }
  const struct member members[] = {{"name", new_text_to_nul(ctx, name)}, {"file", file}};
  append(ctx, &files->addresses.others, object_of(ctx, members, 2));
}

static void add_file(const struct call *call, void *data, const char *name) {
  struct files *files = data;
  if (!is_address_like(name)) return;
  /* Only with a status are they in order. */
  if (files->has_status && add_quad(&files->addresses, name)) return;
  if (!add_usual(files, name, "")) add_opened(call, files, name);
}

/* Adds the files that are named by four octets, in order. */
static void add_quads(const struct call *call, struct files *files) {
  struct addresses *addresses = &files->addresses;
  sort(addresses);
  for (size_t at = 0; at < addresses->count; at++) {
    char name[INET_ADDRSTRLEN], octets[sizeof "4294967295"];
    const struct in_addr quad = {.s_addr = htonl(addresses->quads[at])};
    inet_ntop(AF_INET, &quad, name, sizeof name);
    snprintf(octets, sizeof octets, "%lu", (unsigned long)addresses->quads[at]);
    if (!add_usual(files, name, octets)) add_opened(call, files, name);
  }
}

JSValue host_read_files(struct call *call) {
  JSContext *ctx = call->ctx;
  struct files files = {.limit = (size_t)number_at(call, 1), .directory = opendir(call->path)};
  if (!files.directory) return throw_errno(call, "open", errno);
  files.has_status = JS_ToBool(ctx, call->args[2]);
  files.content = xrealloc(NULL, files.limit + 1);
  char *usual;
  size_t length;
  files.usual = open_memstream(&usual, &length);
  if (!files.usual) out_of_memory();
  files.addresses.others.array = JS_NewArray(ctx);
  bool completed = visit_names(call, files.directory, add_file, &files);
  if (completed) add_quads(call, &files);
  closedir(files.directory);
  free(files.content);
  free(files.addresses.quads);
  if (ferror(files.usual) || fclose(files.usual) != 0) out_of_memory();
  const struct member members[] = {
      {"usual", completed ? new_text(ctx, usual, length) : JS_EXCEPTION},
      {"count", JS_NewUint32(ctx, files.count)},
      {"others", files.addresses.others.array},
  };
  free(usual);
  return object_of(ctx, members, sizeof members / sizeof members[0]);
}
