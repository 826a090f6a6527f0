/*
 * Starts a program as a runtime starts a plugin, and measures it; from Node.js, starting a process costs more than a call
 * itself.
 *
 * Usage: runner COUNT PROGRAM, with the configuration on standard input. So many calls run at the same time, each for a
 * container of its own; the rest of their environment is that of this process. One line is printed: wall time in
 * nanoseconds from before the first start to after the last end, CPU time of all together in microseconds, the largest peak
 * of resident memory in KiB, the highest exit status, the bytes on standard output together.
 *
 * A configuration is in the pipe before its call is started, and the output is read from another.
 * Linked statically: a child's peak begins with that of this process, which has to stay small.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A call has three open files until it is started. */
enum { LARGEST_COUNT = 300 };

struct call {
  int input;
  int output[2];
  pid_t process;
};

static void need(bool holds, const char *what) {
  if (holds) return;
  perror(what);
  exit(EXIT_FAILURE);
}

static long long now(void) {
  struct timespec time;
  need(clock_gettime(CLOCK_MONOTONIC, &time) == 0, "clock_gettime");
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long microseconds(struct timeval time) {
  return time.tv_sec * 1000000LL + time.tv_usec;
}

static void prepare(struct call *call, const char *configuration, size_t length) {
  int ends[2];
  need(pipe2(ends, O_CLOEXEC) == 0 && pipe2(call->output, O_CLOEXEC) == 0, "pipe2");
  need(write(ends[1], configuration, length) == (ssize_t)length, "write");
  need(close(ends[1]) == 0, "close");
  call->input = ends[0];
}

static void start(struct call *call, char *program, size_t number) {
  char id[65];
  char *arguments[] = {program, NULL};
  posix_spawn_file_actions_t actions;
  /* As containerd makes them: 64 hexadecimal digits. */
  snprintf(id, sizeof id, "%064zu", number);
  need(setenv("CNI_CONTAINERID", id, true) == 0, "setenv");
  need((errno = posix_spawn_file_actions_init(&actions)) == 0 &&
           (errno = posix_spawn_file_actions_adddup2(&actions, call->input, STDIN_FILENO)) == 0 &&
           (errno = posix_spawn_file_actions_adddup2(&actions, call->output[1], STDOUT_FILENO)) == 0 &&
           (errno = posix_spawn(&call->process, program, &actions, NULL, arguments, environ)) == 0,
       program);
  need(close(call->input) == 0 && close(call->output[1]) == 0, "close");
}

/* Reads what the call prints until it closes its output, and waits for its end. */
static size_t await(struct call *call, int *status, struct rusage *usage) {
  char buffer[PIPE_BUF];
  size_t bytes = 0;
  ssize_t length;
  while ((length = read(call->output[0], buffer, sizeof buffer)) > 0) bytes += (size_t)length;
  need(length == 0, "read");
  need(wait4(call->process, status, 0, usage) == call->process, "wait4");
  return bytes;
}

int main(int argc, char **argv) {
  static struct call calls[LARGEST_COUNT];
  static char configuration[PIPE_BUF];
  size_t count = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
  size_t length = fread(configuration, 1, sizeof configuration, stdin);
  errno = EINVAL;
  need(count > 0 && count <= LARGEST_COUNT && length < sizeof configuration, "runner");
  for (size_t i = 0; i < count; i++) prepare(&calls[i], configuration, length);
  long long cpu = 0;
  long kilobytes = 0;
  int highest = 0;
  size_t bytes = 0;
  long long begin = now();
  for (size_t i = 0; i < count; i++) start(&calls[i], argv[2], i);
  for (size_t i = 0; i < count; i++) {
    int status;
    struct rusage usage;
    bytes += await(&calls[i], &status, &usage);
    /* As a shell counts: a process that was killed has no exit status. */
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code > highest) highest = code;
    cpu += microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
    if (usage.ru_maxrss > kilobytes) kilobytes = usage.ru_maxrss;
  }
  printf("%lld %lld %ld %d %zu\n", now() - begin, cpu, kilobytes, highest, bytes);
  return EXIT_SUCCESS;
}
