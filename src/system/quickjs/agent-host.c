/*
 * What `host-local agent` waits for, in one place: the time, the end of the program that it runs, and
 * connections. There is at most one program, and some connections; another one takes the place of the
 * oldest, so that clients that send nothing keep no other one waiting. SIGTERM and SIGINT end the process
 * from here, also where it is the first one of a container, for which the kernel has no default action.
 */

#define _GNU_SOURCE
#include "agent-host.h"

#include "file-calls.h"
#include "operator-host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  /* In bytes; the text of a request is cut here. */
  LONGEST_REQUEST = 8 * 1024,
  /* The log has only some lines of it. */
  LONGEST_ERRORS = 64 * 1024,
  WAITING_CONNECTIONS = 16,
  MOST_CONNECTIONS = 8,
  KILLED = 128,
};

/* How long a connection may take, in nanoseconds. */
static const int64_t CONNECTION_TIME = 5000000000;

/* -1 where it is not open. */
static int listener = -1;

struct connection {
  bool is_open;
  int descriptor;
  /* In nanoseconds of the monotonic clock. */
  int64_t deadline;
  char request[LONGEST_REQUEST];
  size_t received;
  /* NULL until there is an answer. */
  char *response;
  size_t length, sent;
};

static struct connection connections[MOST_CONNECTIONS];

/* The one whose request was returned last. */
static struct connection *asking;

static struct {
  /* 0 where none runs, or it has ended. */
  pid_t id;
  int64_t deadline;
  bool is_killed, has_ended;
  int status;
  /* Files in memory: nothing has to be read while the program runs. */
  int output, errors;
} program = {.output = -1, .errors = -1};

static volatile sig_atomic_t is_terminated;

static void on_terminate(int signal) {
  (void)signal;
  is_terminated = 1;
}

/* It only interrupts the wait. */
static void on_child(int signal) { (void)signal; }

/* Blocks the signals except while waiting, so that none is missed; `waiting` is the mask for that. */
static void take_signals(sigset_t *waiting) {
  static bool is_done;
  static sigset_t before;
  if (!is_done) {
    static const int terminating[] = {SIGTERM, SIGINT};
    struct sigaction action = {.sa_handler = on_terminate};
    sigset_t taken;
    sigemptyset(&taken);
    for (size_t at = 0; at < sizeof terminating / sizeof terminating[0]; at++) {
      sigaction(terminating[at], &action, NULL);
      sigaddset(&taken, terminating[at]);
    }
    action.sa_handler = on_child;
    sigaction(SIGCHLD, &action, NULL);
    sigaddset(&taken, SIGCHLD);
    sigprocmask(SIG_BLOCK, &taken, &before);
    sigdelset(&before, SIGTERM);
    sigdelset(&before, SIGINT);
    sigdelset(&before, SIGCHLD);
    is_done = true;
  }
  *waiting = before;
}

static _Noreturn void end(void) {
  if (program.id > 0) kill(-program.id, SIGKILL);
  _exit(0);
}

static void close_connection(struct connection *connection) {
  /* The client sees the end of the answer even if it has sent more than was read. */
  shutdown(connection->descriptor, SHUT_WR);
  close(connection->descriptor);
  free(connection->response);
  connection->is_open = false;
  connection->response = NULL;
  connection->received = connection->length = connection->sent = 0;
}

/* A free place, or that of the oldest connection, which is closed. */
static struct connection *place_for_connection(void) {
  struct connection *oldest = connections;
  for (struct connection *one = connections; one < connections + MOST_CONNECTIONS; one++) {
    if (!one->is_open) return one;
    if (one->deadline < oldest->deadline) oldest = one;
  }
  close_connection(oldest);
  return oldest;
}

static void accept_connection(void) {
  int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (accepted < 0) return;
  struct connection *connection = place_for_connection();
  connection->is_open = true;
  connection->descriptor = accepted;
  connection->deadline = monotonic() + CONNECTION_TIME;
}

/* Whether more of the request is there. */
static bool receive(struct connection *connection) {
  size_t space = sizeof connection->request - connection->received;
  ssize_t count = recv(connection->descriptor, connection->request + connection->received, space, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) {
    close_connection(connection);
    return false;
  }
  connection->received += (size_t)count;
  return true;
}

static void send_response(struct connection *connection) {
  ssize_t count = send(connection->descriptor, connection->response + connection->sent,
                       connection->length - connection->sent, MSG_NOSIGNAL);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) connection->sent += (size_t)count;
  if (count < 0 || connection->sent == connection->length) close_connection(connection);
}

/* The first process of a container also gets the children of others that have ended. */
static void reap(void) {
  int status;
  pid_t ended;
  while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
    if (ended != program.id) continue;
    program.id = 0;
    program.status = status;
    program.has_ended = true;
  }
}

/* The time to wait, in nanoseconds; kills and closes what has taken too long. */
static int64_t time_left(int64_t deadline) {
  int64_t now = monotonic(), until = deadline;
  for (struct connection *one = connections; one < connections + MOST_CONNECTIONS; one++) {
    if (one->is_open && now >= one->deadline) close_connection(one);
    if (one->is_open && one->deadline < until) until = one->deadline;
  }
  if (program.id > 0 && !program.is_killed) {
    if (now >= program.deadline) {
      kill(-program.id, SIGKILL);
      program.is_killed = true;
    } else if (program.deadline < until) {
      until = program.deadline;
    }
  }
  return until > now ? until - now : 0;
}

/* Waits for connections, or what they send and take, until a time has passed or a signal arrives; returns 0 or the errno. */
static int await(struct pollfd *awaited, int64_t time, const sigset_t *waiting) {
  /* A negative descriptor is none. */
  awaited[MOST_CONNECTIONS] = (struct pollfd){.fd = listener, .events = POLLIN};
  for (size_t at = 0; at < MOST_CONNECTIONS; at++) {
    const struct connection *one = &connections[at];
    awaited[at].fd = one->is_open ? one->descriptor : -1;
    awaited[at].events = one->response ? POLLOUT : POLLIN;
  }
  struct timespec timeout = {.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};
  int ready = ppoll(awaited, MOST_CONNECTIONS + 1, &timeout, waiting);
  if (is_terminated) end();
  if (ready >= 0) return 0;
  /* Nothing is known of the descriptors then. */
  for (size_t at = 0; at <= MOST_CONNECTIONS; at++) awaited[at].revents = 0;
  return errno == EINTR ? 0 : errno;
}

/* Serves the connections; returns the one of which more of a request has arrived, or NULL. */
static struct connection *serve(const struct pollfd *awaited) {
  for (size_t at = 0; at < MOST_CONNECTIONS; at++) {
    struct connection *one = &connections[at];
    if (awaited[at].revents == 0) continue;
    if (one->response) send_response(one);
    else if (receive(one)) return one;
  }
  if (awaited[MOST_CONNECTIONS].revents != 0) accept_connection();
  return NULL;
}

/*
 * Waits for some milliseconds, or until the program has ended. Returns the text of a request when more
 * of it has arrived, otherwise `undefined`.
 */
static JSValue host_wait(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  sigset_t waiting;
  int64_t milliseconds;
  if (JS_ToInt64(ctx, &milliseconds, args[0]) < 0) return JS_EXCEPTION;
  take_signals(&waiting);
  int64_t deadline = monotonic() + milliseconds * 1000000;
  for (;;) {
    reap();
    int64_t left = time_left(deadline);
    if (program.has_ended) return JS_UNDEFINED;
    struct pollfd awaited[MOST_CONNECTIONS + 1];
    int error = await(awaited, left, &waiting);
    if (error != 0) return throw_errno(ctx, "poll", error);
    asking = serve(awaited);
    if (asking) return JS_NewStringLen(ctx, asking->request, asking->received);
    if (monotonic() >= deadline) return JS_UNDEFINED;
  }
}

/* Answers the request that arrived last. */
static JSValue host_answer(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  size_t length;
  const char *text = JS_ToCStringLen(ctx, &length, args[0]);
  if (!text) return JS_EXCEPTION;
  char *copy = malloc(length + 1);
  if (copy) memcpy(copy, text, length + 1);
  JS_FreeCString(ctx, text);
  if (!copy) return JS_ThrowOutOfMemory(ctx);
  if (!asking) {
    free(copy);
    return JS_UNDEFINED;
  }
  asking->response = copy;
  asking->length = length;
  asking = NULL;
  return JS_UNDEFINED;
}

/* An address of either family as text; the length of the socket's address, or 0. */
static socklen_t parse_address(const char *text, uint16_t port, struct sockaddr_storage *address) {
  struct sockaddr_in *four = (struct sockaddr_in *)address;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
  memset(address, 0, sizeof *address);
  if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    return sizeof *four;
  }
  if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    return sizeof *six;
  }
  return 0;
}

/* Returns 0 or the errno. */
static int listen_at(const char *text, uint16_t port) {
  struct sockaddr_storage address;
  socklen_t length = parse_address(text, port, &address);
  const int yes = 1;
  if (length == 0) return EINVAL;
  listener = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0) return errno;
  if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      bind(listener, (struct sockaddr *)&address, length) == 0 &&
      listen(listener, WAITING_CONNECTIONS) == 0) {
    return 0;
  }
  int error = errno;
  close(listener);
  listener = -1;
  return error;
}

static JSValue host_listen(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  uint32_t port;
  if (JS_ToUint32(ctx, &port, args[1]) < 0) return JS_EXCEPTION;
  const char *address = path_of(ctx, "listen", args[0]);
  if (!address) return JS_EXCEPTION;
  int error = listen_at(address, (uint16_t)port);
  JS_FreeCString(ctx, address);
  return error == 0 ? JS_UNDEFINED : throw_errno(ctx, "listen", error);
}

static void close_outputs(void) {
  if (program.output >= 0) close(program.output);
  if (program.errors >= 0) close(program.errors);
  program.output = program.errors = -1;
}

/*
 * Starts a program, in a process group of its own, which is killed after some milliseconds. If it is logged, its output is
 * this process's standard error.
 */
static JSValue host_start(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  sigset_t waiting;
  int64_t timeout;
  if (JS_ToInt64(ctx, &timeout, args[1]) < 0) return JS_EXCEPTION;
  bool is_logged = JS_ToBool(ctx, args[2]);
  char **words = strings_of(ctx, args[0]);
  if (!words) return JS_EXCEPTION;
  take_signals(&waiting);
  program.is_killed = program.has_ended = false;
  program.deadline = monotonic() + timeout * 1000000;
  program.output = memfd_create("output", MFD_CLOEXEC);
  program.errors = memfd_create("errors", MFD_CLOEXEC);
  int error = program.output < 0 || program.errors < 0 ? errno : 0;
  struct run run = {.words = words, .environment = environ, .deadline = program.deadline};
  int output = is_logged ? STDERR_FILENO : program.output;
  if (error == 0) error = start_program(&run, output, program.errors, &program.id);
  free_strings(words);
  if (error == 0) return JS_UNDEFINED;
  program.id = 0;
  close_outputs();
  return throw_errno(ctx, "exec", error);
}

/* What a program has written: up to the limit, or EFBIG. */
static JSValue written(JSContext *ctx, int descriptor, uint32_t limit) {
  if (lseek(descriptor, 0, SEEK_SET) < 0) return throw_errno(ctx, "lseek", errno);
  return read_all(ctx, descriptor, limit, 0);
}

/* The beginning of what it has written to standard error. */
static JSValue written_errors(JSContext *ctx) {
  struct stat status;
  if (fstat(program.errors, &status) < 0) return throw_errno(ctx, "fstat", errno);
  if (status.st_size > LONGEST_ERRORS && ftruncate(program.errors, LONGEST_ERRORS) < 0) {
    return throw_errno(ctx, "ftruncate", errno);
  }
  return written(ctx, program.errors, LONGEST_ERRORS);
}

/*
 * `undefined` while the program runs; then, once, its exit code, standard output and the beginning of
 * standard error. Throws ETIMEDOUT if it was killed, EFBIG if its output is longer than the limit in bytes.
 */
static JSValue host_result(JSContext *ctx, JSValueConst self, int count, JSValueConst *args) {
  (void)self, (void)count;
  uint32_t limit;
  if (JS_ToUint32(ctx, &limit, args[0]) < 0) return JS_EXCEPTION;
  if (!program.has_ended) return JS_UNDEFINED;
  program.has_ended = false;
  int status = program.status;
  int32_t code = WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + WTERMSIG(status);
  JSValue result;
  if (program.is_killed) {
    result = throw_errno(ctx, "exec", ETIMEDOUT);
  } else {
    JSValue output = written(ctx, program.output, limit);
    result = JS_IsException(output) ? JS_EXCEPTION
                                    : completed_process(ctx, code, output, written_errors(ctx));
  }
  close_outputs();
  return result;
}

static const JSCFunctionListEntry functions[] = {
    JS_CFUNC_DEF("listen", 2, host_listen), JS_CFUNC_DEF("start", 3, host_start),
    JS_CFUNC_DEF("wait", 1, host_wait),     JS_CFUNC_DEF("answer", 1, host_answer),
    JS_CFUNC_DEF("result", 1, host_result),
};

bool add_agent_host(JSContext *ctx) {
  JSValue host = JS_NewObject(ctx);
  if (JS_IsException(host)) return false;
  JS_SetPropertyFunctionList(ctx, host, functions, sizeof functions / sizeof functions[0]);
  JSValue global = JS_GetGlobalObject(ctx);
  bool added = JS_SetPropertyStr(ctx, global, "agentHost", host) >= 0;
  JS_FreeValue(ctx, global);
  return added;
}
