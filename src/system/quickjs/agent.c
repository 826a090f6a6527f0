/*
 * Waiting, in one place: for the time, the ends of programs, and the connections of `host-local agent`. There are some
 * connections; another one takes the place of the oldest, so that clients that send nothing keep no other one waiting.
 */

#define _GNU_SOURCE
#include "functions.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "allocator.h"
#include "input-output.h"
#include "programs.h"
#include "text.h"

enum {
  /* The length in bytes at which the text of a request is cut. */
  LONGEST_REQUEST = 8 * 1024,
  WAITING_CONNECTIONS = 16,
  MOST_CONNECTIONS = 8,
  /* What is awaited: the streams of the program, the connections, and new ones. */
  CONNECTIONS = PIPES,
  LISTENER = CONNECTIONS + MOST_CONNECTIONS,
  AWAITED,
};

/* How long a connection may take, in nanoseconds. */
static const int64_t CONNECTION_TIME = 5000000000;

/* -1 where it is not open. */
static int listener = -1;

struct connection {
  bool is_open;
  int descriptor;
  /* When it is closed, in nanoseconds of the monotonic clock. */
  int64_t deadline;
  /* Allocated with the connection: no call of a plugin has room for it. */
  char *request;
  size_t received;
  /* NULL until there is an answer. */
  char *response;
  size_t length, sent;
};

static struct connection connections[MOST_CONNECTIONS];

/* The one whose request was returned last. */
static struct connection *asking;

static _Noreturn void on_terminate(int signal) {
  (void)signal;
  kill_program();
  _exit(0);
}

/* Also where this is the first process of a container, for which the kernel has no default action. */
JSValue host_end_on_signals(struct call *call) {
  (void)call;
  await_signal(SIGTERM, on_terminate);
  await_signal(SIGINT, on_terminate);
  return JS_UNDEFINED;
}

static void close_connection(struct connection *connection) {
  /* The client sees the end of the answer even if it has sent more than was read. */
  shutdown(connection->descriptor, SHUT_WR);
  close(connection->descriptor);
  free(connection->request);
  free(connection->response);
  connection->is_open = false;
  connection->request = connection->response = NULL;
  connection->received = connection->length = connection->sent = 0;
}

/* A free place, or that of the oldest connection, which is closed. */
static struct connection *place_for_connection(void) {
  struct connection *oldest = connections;
  for (struct connection *place = connections; place < connections + MOST_CONNECTIONS; place++) {
    if (!place->is_open) return place;
    if (place->deadline < oldest->deadline) oldest = place;
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
  connection->request = xrealloc(NULL, LONGEST_REQUEST);
  connection->deadline = monotonic() + CONNECTION_TIME;
}

/* Whether more of the request is there. */
static bool receive(struct connection *connection) {
  size_t space = LONGEST_REQUEST - connection->received;
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

/* Says what to await of the connections; closes those that have taken too long, and brings `until` forward to the next. */
static int64_t watch_connections(struct pollfd *awaited, int64_t until) {
  int64_t now = monotonic();
  for (size_t at = 0; at < MOST_CONNECTIONS; at++) {
    struct connection *connection = &connections[at];
    if (connection->is_open && now >= connection->deadline) close_connection(connection);
    if (connection->is_open && connection->deadline < until) until = connection->deadline;
    /* A negative descriptor is none. */
    awaited[CONNECTIONS + at].fd = connection->is_open ? connection->descriptor : -1;
    awaited[CONNECTIONS + at].events = connection->response ? POLLOUT : POLLIN;
  }
  awaited[LISTENER] = (struct pollfd){.fd = listener, .events = POLLIN};
  return until;
}

/* Serves the connections; returns the one of which more of a request has arrived, or NULL. */
static struct connection *serve(const struct pollfd *awaited) {
  for (size_t at = 0; at < MOST_CONNECTIONS; at++) {
    struct connection *connection = &connections[at];
    if (awaited[CONNECTIONS + at].revents == 0) continue;
    if (connection->response) send_response(connection);
    else if (receive(connection)) return connection;
  }
  if (awaited[LISTENER].revents != 0) accept_connection();
  return NULL;
}

JSValue host_wait(struct call *call) {
  int64_t deadline = monotonic() + (int64_t)number_at(call, 0) * 1000000;
  for (;;) {
    struct pollfd awaited[AWAITED];
    int64_t until = watch_connections(awaited, watch_program(awaited, deadline));
    int error = await(awaited, AWAITED, until);
    if (error != 0) return throw_errno(call, "poll", error);
    attend_program(awaited);
    asking = serve(awaited);
    if (asking) return new_latin1(call->ctx, asking->request, asking->received);
    if (monotonic() >= deadline || is_complete()) return JS_UNDEFINED;
  }
}

JSValue host_answer(struct call *call) {
  size_t length;
  const char *text = text_at(call, 0, &length);
  if (!asking) return JS_UNDEFINED;
  asking->response = xrealloc(NULL, length + 1);
  memcpy(asking->response, text, length + 1);
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

/* The path is the address with its port, as an error names it. */
JSValue host_listen(struct call *call) {
  const char *address = path_at(call, 1);
  if (!address) return JS_EXCEPTION;
  int error = listen_at(address, (uint16_t)number_at(call, 2));
  return error == 0 ? JS_UNDEFINED : throw_errno(call, "listen", error);
}
