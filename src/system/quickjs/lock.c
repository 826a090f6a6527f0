/* Host functions for the lock. */

#define _GNU_SOURCE
#include "functions.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "input-output.h"

enum {
  /* The longest wait for the lock, in milliseconds: some weeks, so that nanoseconds do not overflow. */
  LONGEST_WAIT = INT32_MAX,
  /* How often a lock file that was removed meanwhile is opened again. */
  MOST_LOCK_FILES = 10,
  /* How often a wait for the lock checks the clock once its time is up. */
  TICK_MICROSECONDS = 50 * 1000,
};

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
  int descriptor = open_retrying(path, flags | O_CREAT | O_NOFOLLOW, 0600);
  if (descriptor >= 0 || errno != ELOOP) return descriptor;
  return open_retrying(path, flags, 0);
}

JSValue host_lock(struct call *call) {
  double milliseconds = number_at(call, 1);
  if (milliseconds > LONGEST_WAIT) milliseconds = LONGEST_WAIT;
  int64_t deadline = monotonic() + (int64_t)(milliseconds * 1e6);
  for (int tries = 0; tries < MOST_LOCK_FILES; tries++) {
    int descriptor = open_lock_file(call->path);
    if (descriptor < 0) return throw_errno(call, "open", errno);
    const char *operation = "flock";
    int error = wait_for_flock(descriptor, deadline);
    if (error == 0) {
      operation = "stat";
      error = check_still_linked(descriptor, call->path);
    }
    if (error == 0) return JS_NewInt32(call->ctx, descriptor);
    close(descriptor);
    /* It was removed during the wait: others lock the new one. */
    if (error != ENOENT) return throw_errno(call, operation, error);
  }
  return throw_errno(call, "flock", EWOULDBLOCK);
}

JSValue host_unlock(struct call *call) {
  /* Whatever goes wrong, it is released when the process exits. */
  close((int)number_at(call, 0));
  return JS_UNDEFINED;
}
