/* Host functions for streams and files: their content, names, attributes. */

#define _GNU_SOURCE
#include "functions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "allocator.h"
#include "input-output.h"
#include "out-of-memory.h"
#include "text.h"

enum {
  /* How much of a longer file is overwritten before it is truncated. */
  OVERWRITE_LIMIT = 4096,
  /* How often a file is opened that is gone then, and there when it is looked at. */
  MOST_OPENINGS = 10,
  SECOND = 1000000000,
};

/* What was read of standard input. */
static struct bytes input;

JSValue host_read_input(struct call *call) {
  int64_t deadline = monotonic() + (int64_t)number_at(call, 1) * 1000000;
  free(input.start);
  int error = read_bytes(STDIN_FILENO, number_at(call, 0), deadline, &input);
  return error ? throw_errno(call, "read", error) : new_text(call->ctx, input.start, input.length);
}

JSValue host_input_bytes(struct call *call) {
  return new_latin1(call->ctx, input.start, input.length);
}

JSValue host_write_output(struct call *call) {
  size_t length;
  const char *bytes = text_at(call, 0, &length);
  has_output = true;
  return done(call, write_all(STDOUT_FILENO, bytes, length) ? 0 : -1);
}

JSValue host_write_error(struct call *call) {
  size_t length;
  const char *bytes = text_at(call, 0, &length);
  bool written = write_all(STDERR_FILENO, bytes, length);
  (void)written; /* there is no other stream to report it on */
  return JS_UNDEFINED;
}

JSValue host_read_file(struct call *call) { return read_path(call, number_at(call, 1), 0); }

JSValue host_create_file(struct call *call) {
  size_t length;
  const char *bytes = text_at(call, 1, &length);
  mode_t mode = (mode_t)number_at(call, 2);
  int descriptor = open_retrying(call->path, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (descriptor < 0) return throw_errno(call, "open", errno);
  int error = close_written(descriptor, write_all(descriptor, bytes, length));
  if (error == 0) return JS_UNDEFINED;
  unlink(call->path);
  return throw_errno(call, "write", error);
}

/* The rest of a longer text is overwritten with line ends before the file is truncated. */
static bool overwrite(int descriptor, const char *bytes, size_t length) {
  struct stat found;
  if (fstat(descriptor, &found) < 0) return false;
  size_t size = found.st_size > 0 ? (size_t)found.st_size : 0;
  if (size > OVERWRITE_LIMIT) size = OVERWRITE_LIMIT;
  size_t padded = length > size ? length : size;
  char *text = xrealloc(NULL, padded + 1);
  memset(text, '\n', padded + 1);
  memcpy(text, bytes, length);
  bool written = write_all(descriptor, text, padded) && ftruncate(descriptor, (off_t)length) == 0;
  int error = errno;
  free(text);
  errno = error;
  return written;
}

JSValue host_overwrite_file(struct call *call) {
  size_t length;
  const char *bytes = text_at(call, 1, &length);
  int descriptor = open_existing(call, O_WRONLY | O_NOFOLLOW);
  if (descriptor < 0) return JS_EXCEPTION;
  int error = overwrite(descriptor, bytes, length) ? 0 : errno;
  close(descriptor);
  return error == 0 ? JS_UNDEFINED : throw_errno(call, "write", error);
}

/* link(2) and others: the path is the second argument. */
static JSValue with_two_paths(struct call *call, int (*operation)(const char *, const char *)) {
  const char *from = path_at(call, 0);
  return from ? done(call, operation(from, call->path)) : JS_EXCEPTION;
}

JSValue host_link(struct call *call) { return with_two_paths(call, link); }

JSValue host_rename(struct call *call) { return with_two_paths(call, rename); }

JSValue host_sync(struct call *call) {
  int descriptor = open_existing(call, O_RDONLY | O_NOFOLLOW);
  if (descriptor < 0) return JS_EXCEPTION;
  int error = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  return error == 0 ? JS_UNDEFINED : throw_errno(call, "fsync", error);
}

JSValue host_unlink(struct call *call) { return done(call, unlink(call->path)); }

JSValue host_read_link(struct call *call) {
  char target[PATH_MAX];
  ssize_t length = readlink(call->path, target, sizeof target);
  return length < 0 ? done(call, -1) : new_text(call->ctx, target, (size_t)length);
}

JSValue host_set_modified(struct call *call) {
  int64_t nanoseconds;
  if (JS_ToBigInt64(call->ctx, &nanoseconds, call->args[1]) < 0) return JS_EXCEPTION;
  struct timespec time = {.tv_sec = nanoseconds / SECOND, .tv_nsec = nanoseconds % SECOND};
  /* Of access, too: bindfs ignores the call if only one time is set. */
  struct timespec times[2] = {time, time};
  return done(call, utimensat(AT_FDCWD, call->path, times, 0));
}

static const char *kind_of(mode_t mode) {
  return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : "other";
}

/* Device and inode are signed: they are only compared, and the engine has undefined behaviour where it makes text of larger
 * numbers, see decimal.ts. */
static JSValue status_of(struct call *call, int result, const struct stat *found) {
  if (result < 0) return done(call, result);
  JSContext *ctx = call->ctx;
  const struct member members[] = {
      {"kind", JS_NewString(ctx, kind_of(found->st_mode))},
      {"device", JS_NewBigInt64(ctx, (int64_t)found->st_dev)},
      {"inode", JS_NewBigInt64(ctx, (int64_t)found->st_ino)},
      {"links", JS_NewInt64(ctx, (int64_t)found->st_nlink)},
      {"size", JS_NewInt64(ctx, found->st_size)},
      {"modified", JS_NewBigInt64(ctx, nanoseconds(found->st_mtim))},
      {"changed", JS_NewBigInt64(ctx, nanoseconds(found->st_ctim))},
  };
  return object_of(ctx, members, sizeof members / sizeof members[0]);
}

/*
 * stat(2), except that a network or FUSE file system is asked: the kernel may remember attributes from before another
 * machine or process changed them. Linux before 4.11 does not know statx(2), for which the C library has EINVAL here;
 * old seccomp profiles refuse it.
 */
static int fresh_stat(const char *path, struct stat *found) {
  struct statx fresh;
  if (statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &fresh) < 0) {
    return errno == EINVAL || errno == ENOSYS || errno == EPERM ? stat(path, found) : -1;
  }
  *found = (struct stat){
      .st_dev = makedev(fresh.stx_dev_major, fresh.stx_dev_minor),
      .st_ino = fresh.stx_ino,
      .st_mode = fresh.stx_mode,
      .st_nlink = fresh.stx_nlink,
      .st_size = (off_t)fresh.stx_size,
      .st_mtim = {.tv_sec = fresh.stx_mtime.tv_sec, .tv_nsec = fresh.stx_mtime.tv_nsec},
      .st_ctim = {.tv_sec = fresh.stx_ctime.tv_sec, .tv_nsec = fresh.stx_ctime.tv_nsec},
  };
  return 0;
}

JSValue host_status(struct call *call) {
  struct stat found;
  int result = fresh_stat(call->path, &found);
  return status_of(call, result, &found);
}

JSValue host_link_status(struct call *call) {
  struct stat found;
  int result = lstat(call->path, &found);
  return status_of(call, result, &found);
}

JSValue host_permissions(struct call *call) {
  struct stat found;
  if (lstat(call->path, &found) < 0) return done(call, -1);
  JSContext *ctx = call->ctx;
  const struct member members[] = {
      {"kind", JS_NewString(ctx, kind_of(found.st_mode))},
      {"mode", JS_NewInt32(ctx, found.st_mode & 07777)},
      {"user", JS_NewUint32(ctx, found.st_uid)},
  };
  return object_of(ctx, members, sizeof members / sizeof members[0]);
}

static JSValue opened_file(JSContext *ctx, const struct stat *found, JSValue content) {
  mode_t mode = found->st_mode;
  const struct member members[] = {
      {"kind", JS_NewString(ctx, kind_of(mode))},
      {"inode", JS_NewBigInt64(ctx, (int64_t)found->st_ino)},
      {"modified", JS_NewBigInt64(ctx, nanoseconds(found->st_mtim))},
      {"changed", JS_NewBigInt64(ctx, nanoseconds(found->st_ctim))},
      {"mode", JS_NewInt32(ctx, mode & 07777)},
      {"content", content},
  };
  return object_of(ctx, members, sizeof members / sizeof members[0]);
}

JSValue host_open_file(struct call *call) {
  struct stat found;
  int descriptor;
  for (int left = MOST_OPENINGS; (descriptor = open_existing(call, O_RDONLY)) < 0; left--) {
    bool missing = errno == ENOENT;
    /* A link to nothing is there, too; any other file that is missing was removed, and may be there again. */
    if (lstat(call->path, &found) < 0) return JS_EXCEPTION;
    JSValue error = JS_GetException(call->ctx);
    bool is_again = missing && !S_ISLNK(found.st_mode) && left > 1;
    if (!is_again) return opened_file(call->ctx, &found, error);
    JS_FreeValue(call->ctx, error);
  }
  int error = fstat(descriptor, &found) < 0 ? errno : 0;
  JSValue content = error ? JS_UNDEFINED : read_all(call, descriptor, number_at(call, 1), 0);
  close(descriptor);
  if (error != 0) {
    throw_errno(call, "fstat", error);
    errno = error;
    return JS_EXCEPTION;
  }
  if (JS_IsException(content)) content = JS_GetException(call->ctx);
  return opened_file(call->ctx, &found, content);
}

JSValue host_file_system_type(struct call *call) {
  struct statfs found;
  if (statfs(call->path, &found) < 0) return done(call, -1);
  return JS_NewUint32(call->ctx, (uint32_t)found.f_type);
}

/* File systems that make inodes as they need them, such as Btrfs, count none, and may have room for a small file. */
JSValue host_is_full(struct call *call) {
  struct statfs found;
  if (statfs(call->path, &found) < 0) return done(call, -1);
  bool has_no_block = found.f_blocks > 0 && found.f_bfree == 0;
  return JS_NewBool(call->ctx, found.f_files > 0 && (has_no_block || found.f_ffree == 0));
}

/*
 * Old seccomp profiles answer EPERM to the system call behind AT_EACCESS, faccessat2(2), which they do not know. Where the
 * effective user is the real one, access(2) tells the same.
 */
static int check_writable(const char *path) {
  int result = faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS);
  if (result == 0 || errno != EPERM || getuid() != geteuid() || getgid() != getegid()) return result;
  return access(path, W_OK | X_OK);
}

JSValue host_require_access(struct call *call) { return done(call, check_writable(call->path)); }

JSValue host_require_openable(struct call *call) {
  int descriptor = open_existing(call, number_at(call, 1) != 0 ? O_WRONLY | O_NOFOLLOW : O_RDONLY);
  if (descriptor < 0) return JS_EXCEPTION;
  close(descriptor);
  return JS_UNDEFINED;
}
