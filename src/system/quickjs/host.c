/*
 * The native executable: a QuickJS engine, the plugin as bytecode, and the system calls that the
 * plugin uses. It knows nothing of CNI; quickjs-system.ts implements `System` with it.
 *
 * Every function here takes and returns plain values. When its system call fails, it throws an object
 * {operation, code} with the names of the call and of the errno. Text is UTF-8; a path that contains
 * NUL is EINVAL, since the kernel would truncate it.
 */

#define _GNU_SOURCE
#include "allocator.h"
#include "directories.h"
#include "engine.h"
#include "file-calls.h"
#include "line-files.h"
#include "operator-host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <quickjs.h>

/* The plugin and the operator's tool, compiled by compiler.c. */
extern const uint8_t plugin_program[];
extern const size_t plugin_program_size;
extern const uint8_t operator_program[];
extern const size_t operator_program_size;

enum {
  /* How much of a longer file is overwritten before it is truncated. */
  OVERWRITE_LIMIT = 4096,
  /* The longest wait for the lock, in milliseconds: some weeks, so that nanoseconds do not overflow. */
  LONGEST_WAIT = INT32_MAX,
  /* How often a lock file that was removed meanwhile is opened again. */
  MOST_LOCK_FILES = 10,
  /* How often a wait for the lock checks the clock once its time is up. */
  TICK_MICROSECONDS = 50 * 1000,
};

static JSValue host_environment(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  const char *name = JS_ToCString(ctx, args[0]);
  if (!name) return JS_EXCEPTION;
  const char *value = getenv(name);
  JS_FreeCString(ctx, name);
  return value ? JS_NewString(ctx, value) : JS_UNDEFINED;
}

static JSValue host_read_input(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  double limit;
  uint32_t milliseconds;
  if (JS_ToFloat64(ctx, &limit, args[0]) < 0 || JS_ToUint32(ctx, &milliseconds, args[1]) < 0) {
    return JS_EXCEPTION;
  }
  return read_all(ctx, STDIN_FILENO, limit, monotonic() + (int64_t)milliseconds * 1000000);
}

/* Whether something may be on standard output. */
static bool has_output;

static JSValue write_stream(JSContext *ctx, JSValueConst text, int descriptor) {
  size_t length;
  const char *bytes = JS_ToCStringLen(ctx, &length, text);
  if (!bytes) return JS_EXCEPTION;
  if (descriptor == STDOUT_FILENO) has_output = true;
  bool written = write_all(descriptor, bytes, length);
  int error = errno;
  JS_FreeCString(ctx, bytes);
  return written ? JS_UNDEFINED : throw_errno(ctx, "write", error);
}

static JSValue host_write_output(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  return write_stream(ctx, args[0], STDOUT_FILENO);
}

static JSValue host_write_error(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  return write_stream(ctx, args[0], STDERR_FILENO);
}

static JSValue host_read_file(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  double limit;
  if (JS_ToFloat64(ctx, &limit, args[1]) < 0) return JS_EXCEPTION;
  return read_path(ctx, args[0], limit, 0);
}

static JSValue create_file(JSContext *ctx, const char *path, const char *bytes, size_t length,
                           mode_t mode) {
  int descriptor = open_retrying(path, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (descriptor < 0) return throw_errno(ctx, "open", errno);
  bool written = write_all(descriptor, bytes, length);
  int error = errno;
  /* A network file system may report only now that the text could not be written. */
  if (close(descriptor) < 0 && written && errno != EINTR) {
    written = false;
    error = errno;
  }
  if (written) return JS_UNDEFINED;
  unlink(path);
  return throw_errno(ctx, "write", error);
}

static JSValue host_create_file(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  uint32_t mode;
  if (JS_ToUint32(ctx, &mode, args[2]) < 0) return JS_EXCEPTION;
  const char *path = path_of(ctx, "open", args[0]);
  if (!path) return JS_EXCEPTION;
  size_t length;
  const char *bytes = JS_ToCStringLen(ctx, &length, args[1]);
  JSValue result = bytes ? create_file(ctx, path, bytes, length, (mode_t)mode) : JS_EXCEPTION;
  if (bytes) JS_FreeCString(ctx, bytes);
  JS_FreeCString(ctx, path);
  return result;
}

/* The rest of a longer text is overwritten with line ends before the file is truncated. */
static bool overwrite(int descriptor, const char *bytes, size_t length) {
  struct stat found;
  if (fstat(descriptor, &found) < 0) return false;
  size_t size = found.st_size > 0 ? (size_t)found.st_size : 0;
  if (size > OVERWRITE_LIMIT) size = OVERWRITE_LIMIT;
  size_t padded = length > size ? length : size;
  char *text = malloc(padded + 1);
  if (!text) {
    errno = ENOMEM;
    return false;
  }
  memset(text, '\n', padded + 1);
  memcpy(text, bytes, length);
  bool written = write_all(descriptor, text, padded) && ftruncate(descriptor, (off_t)length) == 0;
  int error = errno;
  free(text);
  errno = error;
  return written;
}

static JSValue host_overwrite_file(JSContext *ctx, JSValueConst self, int count,
                                   JSValueConst *args) {
  (void)self, (void)count;
  int descriptor = open_existing(ctx, args[0], O_WRONLY | O_NOFOLLOW);
  if (descriptor < 0) return JS_EXCEPTION;
  size_t length;
  const char *bytes = JS_ToCStringLen(ctx, &length, args[1]);
  bool written = bytes && overwrite(descriptor, bytes, length);
  int error = errno;
  close(descriptor);
  if (!bytes) return JS_EXCEPTION;
  JS_FreeCString(ctx, bytes);
  return written ? JS_UNDEFINED : throw_errno(ctx, "write", error);
}

/* link(2) and rename(2): two paths in, nothing out. */
static JSValue with_two_paths(JSContext *ctx, const char *operation, JSValueConst *args,
                              int (*call)(const char *, const char *)) {
  const char *from = path_of(ctx, operation, args[0]);
  if (!from) return JS_EXCEPTION;
  const char *to = path_of(ctx, operation, args[1]);
  JSValue result = to ? done(ctx, operation, call(from, to)) : JS_EXCEPTION;
  if (to) JS_FreeCString(ctx, to);
  JS_FreeCString(ctx, from);
  return result;
}

static JSValue host_link(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  return with_two_paths(ctx, "link", args, link);
}

static JSValue host_rename(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  return with_two_paths(ctx, "rename", args, rename);
}

static JSValue host_symlink(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  return with_two_paths(ctx, "symlink", args, symlink);
}

static JSValue host_read_link(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  const char *path = path_of(ctx, "readlink", args[0]);
  if (!path) return JS_EXCEPTION;
  char target[PATH_MAX];
  ssize_t length = readlink(path, target, sizeof target);
  int error = errno;
  JS_FreeCString(ctx, path);
  if (length < 0) return throw_errno(ctx, "readlink", error);
  return JS_NewStringLen(ctx, target, (size_t)length);
}

static JSValue host_set_modified(JSContext *ctx, JSValueConst self, int count,
                                 JSValueConst *args) {
  (void)self, (void)count;
  int64_t seconds;
  int32_t nanoseconds;
  if (JS_ToInt64(ctx, &seconds, args[1]) < 0 || JS_ToInt32(ctx, &nanoseconds, args[2]) < 0) {
    return JS_EXCEPTION;
  }
  const char *path = path_of(ctx, "utimensat", args[0]);
  if (!path) return JS_EXCEPTION;
  /* Of access, too: bindfs ignores the call if only one time is set. */
  struct timespec time = {.tv_sec = seconds, .tv_nsec = nanoseconds};
  struct timespec times[2] = {time, time};
  JSValue result = done(ctx, "utimensat", utimensat(AT_FDCWD, path, times, 0));
  JS_FreeCString(ctx, path);
  return result;
}

static JSValue host_unlink(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  const char *path = path_of(ctx, "unlink", args[0]);
  if (!path) return JS_EXCEPTION;
  JSValue result = done(ctx, "unlink", unlink(path));
  JS_FreeCString(ctx, path);
  return result;
}

/*
 * [kind, device, inode, size, modified, changed]; kind is 'f', 'd' or 'o' as a number. Device and inode are signed: they are
 * only compared, and the engine has undefined behaviour where it makes text of larger numbers, see decimal.ts.
 */
static JSValue status_by(JSContext *ctx, const char *operation, JSValueConst path_value,
                         int (*call)(const char *, struct stat *)) {
  const char *path = path_of(ctx, operation, path_value);
  if (!path) return JS_EXCEPTION;
  struct stat found;
  int result = call(path, &found);
  int error = errno;
  JS_FreeCString(ctx, path);
  if (result < 0) return throw_errno(ctx, operation, error);
  int kind = S_ISREG(found.st_mode) ? 'f' : S_ISDIR(found.st_mode) ? 'd' : 'o';
  JSValue fields[] = {
      JS_NewInt32(ctx, kind),
      JS_NewBigInt64(ctx, (int64_t)found.st_dev),
      JS_NewBigInt64(ctx, (int64_t)found.st_ino),
      JS_NewFloat64(ctx, (double)found.st_size),
      JS_NewBigInt64(ctx, nanoseconds(found.st_mtim)),
      JS_NewBigInt64(ctx, nanoseconds(found.st_ctim)),
  };
  JSValue status = JS_NewArray(ctx);
  bool failed = JS_IsException(status);
  for (uint32_t at = 0; at < sizeof fields / sizeof fields[0]; at++) {
    if (failed) JS_FreeValue(ctx, fields[at]);
    else failed = JS_SetPropertyUint32(ctx, status, at, fields[at]) < 0;
  }
  if (!failed) return status;
  JS_FreeValue(ctx, status);
  return JS_EXCEPTION;
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
      .st_size = (off_t)fresh.stx_size,
      .st_mtim = {.tv_sec = fresh.stx_mtime.tv_sec, .tv_nsec = fresh.stx_mtime.tv_nsec},
      .st_ctim = {.tv_sec = fresh.stx_ctime.tv_sec, .tv_nsec = fresh.stx_ctime.tv_nsec},
  };
  return 0;
}

static JSValue host_status(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  return status_by(ctx, "stat", args[0], fresh_stat);
}

static JSValue host_link_status(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  return status_by(ctx, "lstat", args[0], lstat);
}

static JSValue host_file_system_type(JSContext *ctx, JSValueConst self, int count,
                                     JSValueConst *args) {
  (void)self, (void)count;
  const char *path = path_of(ctx, "statfs", args[0]);
  if (!path) return JS_EXCEPTION;
  struct statfs found;
  int result = statfs(path, &found);
  int error = errno;
  JS_FreeCString(ctx, path);
  return result < 0 ? throw_errno(ctx, "statfs", error) : JS_NewUint32(ctx, (uint32_t)found.f_type);
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

static JSValue host_require_writable(JSContext *ctx, JSValueConst self, int count,
                                     JSValueConst *args) {
  (void)self, (void)count;
  const char *path = path_of(ctx, "access", args[0]);
  if (!path) return JS_EXCEPTION;
  JSValue result = done(ctx, "access", check_writable(path));
  JS_FreeCString(ctx, path);
  return result;
}

static void on_tick(int signal) { (void)signal; }

/*
 * Waits in flock(2), in the kernel's own queue, where an interrupted call loses its place: the first tick comes at the
 * deadline. Further ones follow, since one that comes just before the call begins has no effect.
 * Returns 0, or the errno; EWOULDBLOCK on timeout.
 */
static int wait_for_flock(int descriptor, int64_t deadline) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
  if (errno != EWOULDBLOCK) return errno;
  struct sigaction tick = {.sa_handler = on_tick}; /* no SA_RESTART: it must interrupt */
  struct itimerval ticks = {.it_interval = {0, TICK_MICROSECONDS}};
  struct itimerval never = {{0, 0}, {0, 0}};
  sigset_t alarm;
  if (sigemptyset(&alarm) < 0 || sigaddset(&alarm, SIGALRM) < 0) return errno;
  /* The caller may have it blocked. */
  if (sigprocmask(SIG_UNBLOCK, &alarm, NULL) < 0) return errno;
  if (sigaction(SIGALRM, &tick, NULL) < 0) return errno;
  int error = EWOULDBLOCK;
  for (int64_t left; (left = deadline - monotonic()) > 0;) {
    int64_t microseconds = left / 1000 + 1;
    ticks.it_value = (struct timeval){microseconds / 1000000, microseconds % 1000000};
    if (setitimer(ITIMER_REAL, &ticks, NULL) < 0) return errno;
    error = flock(descriptor, LOCK_EX) == 0 ? 0 : errno;
    if (error != EINTR) break;
    error = EWOULDBLOCK;
  }
  if (setitimer(ITIMER_REAL, &never, NULL) < 0 && error == 0) return errno;
  return error;
}

/* Returns 0 where the locked file is still the one at its path, ENOENT where it is not, or the errno. */
static int check_still_linked(int descriptor, const char *path) {
  struct stat locked, named;
  if (fstat(descriptor, &locked) < 0 || stat(path, &named) < 0) return errno;
  return locked.st_dev == named.st_dev && locked.st_ino == named.st_ino ? 0 : ENOENT;
}

/*
 * A symbolic link to an existing file is followed, as by the Go plugin; no file is made through one.
 * Without O_NONBLOCK a FIFO would block the call.
 */
static int open_lock_file(const char *path) {
  int flags = O_RDONLY | O_NONBLOCK;
  int descriptor = open_retrying(path, flags | O_CREAT | O_NOFOLLOW, 0750);
  if (descriptor >= 0 || errno != ELOOP) return descriptor;
  return open_retrying(path, flags, 0);
}

/* Returns the descriptor, or -1 with the errno in `error`. */
static int lock_file(const char *path, double milliseconds, const char **operation, int *error) {
  if (milliseconds > LONGEST_WAIT) milliseconds = LONGEST_WAIT;
  int64_t deadline = monotonic() + (int64_t)(milliseconds * 1e6);
  for (int tries = 0; tries < MOST_LOCK_FILES; tries++) {
    *operation = "open";
    int descriptor = open_lock_file(path);
    *error = errno;
    if (descriptor < 0) return -1;
    *operation = "flock";
    *error = wait_for_flock(descriptor, deadline);
    if (*error == 0) {
      *operation = "stat";
      *error = check_still_linked(descriptor, path);
    }
    if (*error == 0) return descriptor;
    close(descriptor);
    /* It was removed during the wait: others lock the new one. */
    if (*error != ENOENT) return -1;
  }
  *error = EWOULDBLOCK;
  return -1;
}

/* Opens and locks a file; returns its descriptor, which stays open until `unlock` or exit. */
static JSValue host_lock(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  double milliseconds;
  if (JS_ToFloat64(ctx, &milliseconds, args[1]) < 0) return JS_EXCEPTION;
  const char *path = path_of(ctx, "open", args[0]);
  if (!path) return JS_EXCEPTION;
  const char *operation;
  int error;
  int descriptor = lock_file(path, milliseconds, &operation, &error);
  JS_FreeCString(ctx, path);
  return descriptor < 0 ? throw_errno(ctx, operation, error) : JS_NewInt32(ctx, descriptor);
}

static JSValue host_unlock(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  int32_t descriptor;
  if (JS_ToInt32(ctx, &descriptor, args[0]) < 0) return JS_EXCEPTION;
  return done(ctx, "close", close(descriptor));
}

static JSValue milliseconds_of(JSContext *ctx, clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time) < 0) return throw_errno(ctx, "clock_gettime", errno);
  return JS_NewInt64(ctx, nanoseconds(time) / 1000000);
}

static JSValue host_now(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count, (void)args;
  return milliseconds_of(ctx, CLOCK_REALTIME);
}

static JSValue host_monotonic(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count, (void)args;
  return milliseconds_of(ctx, CLOCK_MONOTONIC);
}

static JSValue host_process_id(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count, (void)args;
  return JS_NewInt32(ctx, getpid());
}

/* Set by the program as its last act. */
static int exit_code = 2;

static JSValue host_exit(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  int32_t code;
  if (JS_ToInt32(ctx, &code, args[0]) < 0) return JS_EXCEPTION;
  exit_code = code;
#ifndef HOST_CHECKED
  /* The kernel frees what the engine would free one by one. */
  _exit(code);
#endif
  return JS_UNDEFINED;
}

/* What the program calls. */
static const struct {
  const char *name;
  int length;
  JSCFunction *call;
} functions[] = {
    {"environment", 1, host_environment},
    {"readInput", 2, host_read_input},
    {"writeOutput", 1, host_write_output},
    {"writeError", 1, host_write_error},
    {"readFile", 2, host_read_file},
    {"createFile", 3, host_create_file},
    {"overwriteFile", 2, host_overwrite_file},
    {"link", 2, host_link},
    {"rename", 2, host_rename},
    {"symlink", 2, host_symlink},
    {"readLink", 1, host_read_link},
    {"setModified", 3, host_set_modified},
    {"unlink", 1, host_unlink},
    {"makeDirectory", 2, host_make_directory},
    {"changeMode", 2, host_change_mode},
    {"removeDirectory", 1, host_remove_directory},
    {"list", 1, host_list},
    {"listAddresses", 1, host_list_addresses},
    {"readFiles", 2, host_read_files},
    {"findLines", 2, host_find_lines},
    {"extendFile", 3, host_extend_file},
    {"status", 1, host_status},
    {"linkStatus", 1, host_link_status},
    {"fileSystemType", 1, host_file_system_type},
    {"requireWritable", 1, host_require_writable},
    {"lock", 2, host_lock},
    {"unlock", 1, host_unlock},
    {"now", 0, host_now},
    {"monotonic", 0, host_monotonic},
    {"processId", 0, host_process_id},
    {"exit", 1, host_exit},
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* Every function is reached through here: while the snapshot is made, there is no machine. */
static JSValue call_function(JSContext *ctx, JSValueConst self, int count, JSValueConst *args,
                             int index) {
  if (is_building()) {
    return JS_ThrowInternalError(ctx, "host.%s is called before a call is served",
                                 functions[index].name);
  }
  return functions[index].call(ctx, self, count, args);
}

/* The program's top level ends with this: its argument serves a call. */
static JSValue host_serve(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  serve_with(ctx, args[0]);
  return JS_UNDEFINED;
}

static bool add_host(JSContext *ctx) {
  JSValue host = JS_NewObject(ctx);
  bool added = !JS_IsException(host) &&
               JS_SetPropertyStr(ctx, host, "serve",
                                 JS_NewCFunction(ctx, host_serve, "serve", 1)) >= 0;
  for (int at = 0; at < FUNCTIONS && added; at++) {
    const char *name = functions[at].name;
    JSValue function = JS_NewCFunctionMagic(ctx, call_function, name, functions[at].length,
                                            JS_CFUNC_generic_magic, at);
    added = JS_SetPropertyStr(ctx, host, name, function) >= 0;
  }
  JSValue global = JS_GetGlobalObject(ctx);
  added = JS_SetPropertyStr(ctx, global, "host", host) >= 0 && added;
  JS_FreeValue(ctx, global);
  return added;
}

/*
 * A standard stream that the caller closed stays closed: reading and writing fail, and no file that
 * is opened later gets its number.
 */
static void keep_closed_streams(void) {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    if (fcntl(stream, F_GETFD) < 0 && open("/", O_PATH | O_CLOEXEC) < 0) return;
  }
}

/* The name that the program was called by, without a directory. */
static const char *program_name(int count, char **arguments) {
  if (count < 1) return "";
  const char *slash = strrchr(arguments[0], '/');
  return slash ? slash + 1 : arguments[0];
}

/*
 * A runtime passes no arguments; a caller that sets CNI_COMMAND is a runtime in any case. The plugin `static` has no
 * operator's tool: it ignores arguments.
 */
static bool is_operator(int count, const char *name) {
  const char *command = getenv("CNI_COMMAND");
  return count > 1 && (!command || *command == '\0') && strcmp(name, "static") != 0;
}

static bool run_plugin(const struct engine *engine, const char *name) {
  JSContext *ctx = engine->ctx;
  JSValue argument = JS_NewString(ctx, name);
  if (JS_IsException(argument)) return false;
  JSValue result = JS_Call(ctx, engine->serve, JS_UNDEFINED, 1, &argument);
  bool completed = !JS_IsException(result);
  JS_FreeValue(ctx, argument);
  JS_FreeValue(ctx, result);
  return completed;
}

static bool run_operator(JSContext *ctx, int count, char **arguments) {
  return add_operator_host(ctx, count, arguments) &&
         evaluate(ctx, operator_program, operator_program_size);
}

/* The error object of a call that has no memory left to make one (CNI SPEC 1.1.0, section 5), unless it has printed already. */
static int out_of_memory(void) {
  static const char error[] = "{\n    \"code\": 999,\n    \"msg\": \"out of memory\"\n}";
  bool written = has_output || write_all(STDOUT_FILENO, error, sizeof error - 1);
  return written ? 1 : 2;
}

#ifndef HOST_CHECKED

static void on_fault(int signal) {
  (void)signal;
  _exit(out_of_memory());
}

/* Where memory has run out, the library may use what it did not get. */
static void report_faults(void) {
  struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_RESETHAND};
  sigaction(SIGSEGV, &fault, NULL);
}

#endif

int main(int count, char **arguments) {
  if (!has_snapshot()) return write_snapshot(add_host);
  keep_closed_streams();
  /* Files get the requested modes, independent of the caller's umask. */
  umask(022);
  /* A closed pipe or a file size limit is an error to handle, not a signal that kills the process. */
  if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return 2;
  struct engine *engine = start_engine(add_host);
  const char *name = program_name(count, arguments);
  bool is_plugin = !is_operator(count, name);
#ifndef HOST_CHECKED
  if (is_plugin) on_shortage = report_faults;
#endif
  if (!engine) return is_plugin ? out_of_memory() : 2;
  if (!(is_plugin ? run_plugin(engine, name)
                  : run_operator(engine->ctx, count - 1, arguments + 1))) {
    bool lacks_memory = report_exception(engine->ctx);
    exit_code = is_plugin && lacks_memory ? out_of_memory() : 2;
  }
#ifdef HOST_CHECKED
  /* The kernel frees everything at exit; only leak checks need this. */
  JS_FreeValue(engine->ctx, engine->serve);
  JS_FreeContext(engine->ctx);
  JS_FreeRuntime(engine->runtime);
#endif
  return exit_code;
}
