/* Host functions for the operator commands; a call of the plugin gets here only where GC enters network namespaces. */

#define _GNU_SOURCE
#include "functions.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "input-output.h"
#include "text.h"

enum {
  /* A longer line is cut here, in bytes. */
  LONGEST_LINE = 4096,
  BUFFER = 64 * 1024,
};

JSValue host_is_terminal(struct call *call) {
  return JS_NewBool(call->ctx, isatty((int)number_at(call, 0)));
}

JSValue host_terminal_size(struct call *call) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0) return JS_UNDEFINED;
  const struct member members[] = {
      {"columns", JS_NewInt32(call->ctx, size.ws_col)},
      {"rows", JS_NewInt32(call->ctx, size.ws_row)},
  };
  return object_of(call->ctx, members, 2);
}

/* A FIFO has no end before it has had a writer: read_all waits for one, since it asks poll first. */
JSValue host_read_pipe(struct call *call) {
  int64_t deadline = monotonic() + (int64_t)number_at(call, 2) * 1000000;
  return read_path(call, number_at(call, 1), deadline);
}

JSValue host_read_line(struct call *call) {
  char line[LONGEST_LINE];
  /* Byte by byte: what follows the line is left for the next reader. */
  setvbuf(stdin, NULL, _IONBF, 0);
  if (fgets(line, sizeof line, stdin)) return new_text(call->ctx, line, strcspn(line, "\n"));
  return ferror(stdin) ? throw_errno(call, "read", errno) : JS_UNDEFINED;
}

/* Copies and syncs; false, with errno set, where that fails. */
static bool copy_bytes(int from, int to) {
  char buffer[BUFFER];
  ssize_t found;
  while ((found = read_up_to(from, buffer, sizeof buffer)) > 0) {
    if (!write_all(to, buffer, (size_t)found)) return false;
  }
  return found == 0 && fsync(to) == 0;
}

/* The path is that of the copy. */
JSValue host_copy_file(struct call *call) {
  const char *from = path_at(call, 0);
  if (!from) return JS_EXCEPTION;
  int source = open_retrying(from, O_RDONLY | O_NONBLOCK, 0);
  if (source < 0) return throw_errno(call, "open", errno);
  int target = open_retrying(call->path, O_WRONLY | O_CREAT | O_EXCL, (mode_t)number_at(call, 2));
  int error = target < 0 ? errno : close_written(target, copy_bytes(source, target));
  close(source);
  if (target < 0) return throw_errno(call, "open", error);
  if (error == 0) return JS_UNDEFINED;
  unlink(call->path);
  return throw_errno(call, "write", error);
}

/* Returns 0 or the errno. */
static int find_text(int descriptor, const char *text, size_t length, bool *found) {
  char buffer[BUFFER];
  /* The end of what was read before: the text may begin there. */
  size_t kept = 0;
  *found = false;
  if (length == 0 || length > sizeof buffer / 2) return EINVAL;
  for (;;) {
    ssize_t count = read_up_to(descriptor, buffer + kept, sizeof buffer - kept);
    if (count < 0) return errno;
    size_t filled = kept + (size_t)count;
    *found = memmem(buffer, filled, text, length) != NULL;
    if (*found || count == 0) return 0;
    kept = filled < length ? filled : length - 1;
    memmove(buffer, buffer + filled - kept, kept);
  }
}

JSValue host_has_text(struct call *call) {
  size_t length;
  const char *text = text_at(call, 1, &length);
  int descriptor = open_existing(call, O_RDONLY);
  if (descriptor < 0) return JS_EXCEPTION;
  bool found = false;
  int error = find_text(descriptor, text, length, &found);
  close(descriptor);
  return error == 0 ? JS_NewBool(call->ctx, found) : throw_errno(call, "read", error);
}

/*
 * Opens a namespace that is mounted at the path of the call. The path may lie in the mounts of somebody who exchanges it
 * for a device meanwhile, so nothing else is opened for reading.
 */
static int open_namespace(const struct call *call) {
  int named = open_existing(call, O_PATH | O_NOFOLLOW);
  if (named < 0) return -1;
  struct statfs kind;
  char path[sizeof "/proc/self/fd/" + 3 * sizeof named];
  snprintf(path, sizeof path, "/proc/self/fd/%d", named);
  int namespace = -1;
  if (fstatfs(named, &kind) < 0) throw_errno(call, "statfs", errno);
  else if (kind.f_type != NSFS_MAGIC) throw_errno(call, "open", EINVAL);
  else if ((namespace = open_retrying(path, O_RDONLY, 0)) < 0) throw_errno(call, "open", errno);
  close(named);
  return namespace;
}

/* The path of the call is that of the namespace. */
JSValue host_read_file_in(struct call *call) {
  const char *path = path_at(call, 1);
  int namespace = path ? open_namespace(call) : -1;
  if (namespace < 0) return JS_EXCEPTION;
  int own = open_retrying("/proc/self/ns/net", O_RDONLY, 0);
  JSValue text;
  if (own < 0) text = throw_errno(call, "open", errno);
  else if (setns(namespace, CLONE_NEWNET) < 0) text = throw_errno(call, "setns", errno);
  else {
    struct call there = *call;
    there.path = path;
    there.path_length = strlen(path);
    text = read_path(&there, number_at(call, 2), 0);
    /* What follows, such as a program to run, belongs into the own namespace. */
    if (setns(own, CLONE_NEWNET) < 0) _exit(2);
  }
  if (own >= 0) close(own);
  close(namespace);
  return text;
}
