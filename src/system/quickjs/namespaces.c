/* Host functions for the handles of network namespaces. */

#define _GNU_SOURCE
#include "functions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The numbers of linux/fcntl.h and linux/exportfs.h since Linux 6.18. */
enum { NSFS_ROOT = -10003, NSFS_HANDLE = 241 };

/* `struct file_handle` of open_by_handle_at(2), with that of linux/nsfs.h. */
struct namespace_handle {
  uint32_t size;
  int32_t type;
  uint64_t id;
  uint32_t kind, inode;
};

enum {
  HEAD = offsetof(struct namespace_handle, id),
  SIZE = sizeof(struct namespace_handle) - HEAD,
};

_Static_assert(HEAD == sizeof(struct file_handle) && SIZE == 16, "the kernel's layout");

JSValue host_namespace_handle(struct call *call) {
  struct namespace_handle handle = {.size = SIZE};
  int mount;
  if (name_to_handle_at(AT_FDCWD, call->path, (struct file_handle *)&handle, &mount,
                        AT_SYMLINK_FOLLOW) < 0) {
    /* EOVERFLOW has a longer handle, which is of another file system; EPERM is that of a seccomp profile. */
    bool unknown = errno == EOPNOTSUPP || errno == EOVERFLOW || errno == ENOSYS || errno == EPERM;
    return unknown ? JS_UNDEFINED : done(call, -1);
  }
  if (handle.type != NSFS_HANDLE || handle.size != SIZE || handle.kind != CLONE_NEWNET) {
    return JS_UNDEFINED;
  }
  char id[sizeof "18446744073709551615"];
  snprintf(id, sizeof id, "%" PRIu64, handle.id);
  const struct member members[] = {
      {"id", JS_NewString(call->ctx, id)},
      {"inode", JS_NewBigInt64(call->ctx, handle.inode)},
  };
  return object_of(call->ctx, members, 2);
}

/* The handle that the arguments of a call are; false where they are none. */
static bool read_handle(struct call *call, struct namespace_handle *handle) {
  size_t length;
  const char *id = text_at(call, 0, &length);
  int64_t inode;
  if (JS_ToBigInt64(call->ctx, &inode, call->args[1]) < 0) return false;
  if (length == 0 || strspn(id, "0123456789") != length || inode <= 0 || inode > UINT32_MAX) {
    return false;
  }
  errno = 0;
  *handle = (struct namespace_handle){
      .size = SIZE,
      .type = NSFS_HANDLE,
      .id = strtoull(id, NULL, 10),
      .kind = CLONE_NEWNET,
      .inode = (uint32_t)inode,
  };
  return errno == 0;
}

JSValue host_opens_namespace(struct call *call) {
  struct namespace_handle handle;
  if (!read_handle(call, &handle)) return throw_errno(call, call->operation, EINVAL);
  int descriptor =
      open_by_handle_at(NSFS_ROOT, (struct file_handle *)&handle, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno != ESTALE) return done(call, -1);
  if (descriptor >= 0) close(descriptor);
  return JS_NewBool(call->ctx, descriptor >= 0);
}
