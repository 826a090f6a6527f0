/*
 * Host functions that ask the kernel about the network namespaces to which it has given ids in that of this process, see
 * rtnetlink(7). A link that crosses into another namespace gives it one, and so does `RTM_NEWNSID`.
 */

#define _GNU_SOURCE
#include "functions.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "allocator.h"
#include "input-output.h"
#include "text.h"

enum {
  /* The kernel answers in parts of at most half of that. */
  PART = 64 * 1024,
  /* A list of links or ids that was changed meanwhile is asked for so often. */
  MOST_DUMPS = 5,
  /* From so many ids on, links are asked, too: Linux 6.18 ends the list of ids after its first part. */
  MANY_IDS = 1100,
};

/* The text of a link has its address and statistics; the mask of `IFLA_EXT_MASK` that leaves out the latter. */
#ifndef RTEXT_FILTER_SKIP_STATS
#define RTEXT_FILTER_SKIP_STATS (1 << 3)
#endif

/* A socket of the kernel's tables of this network namespace. */
struct conversation {
  int socket;
  /* Whether requests are checked: a kernel that does not would answer for this namespace in place of another one. */
  bool is_strict;
  uint32_t sequence;
  /* Whether what was dumped last has changed meanwhile. */
  bool is_interrupted;
  _Alignas(struct nlmsghdr) char part[PART];
};

/* What is done with each message of an answer. */
typedef void visit_message(struct nlmsghdr *message, void *data);

/*
 * Begins to ask; NULL, with an exception thrown, where that is not possible. The kernel answers within send(2) and recv(2):
 * where there is no answer, nothing is waited for.
 */
static struct conversation *begin(const struct call *call) {
  const int on = 1;
  int opened = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (opened < 0) {
    throw_errno(call, "socket", errno);
    return NULL;
  }
  struct conversation *conversation = xrealloc(NULL, sizeof *conversation);
  conversation->socket = opened;
  conversation->sequence = 0;
  conversation->is_strict =
      setsockopt(opened, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on) == 0;
  return conversation;
}

static void end(struct conversation *conversation) {
  close(conversation->socket);
  free(conversation);
}

/* What a message that ends an answer says: 0 or the errno. */
static int error_in(struct nlmsghdr *message) {
  return message->nlmsg_len < NLMSG_LENGTH(sizeof(int)) ? 0 : -*(int *)NLMSG_DATA(message);
}

/* Sends a request, and visits the answer. Returns 0 or the errno. */
static int ask(struct conversation *conversation, struct nlmsghdr *request, visit_message *visit,
               void *data) {
  uint32_t sequence = ++conversation->sequence;
  request->nlmsg_seq = sequence;
  request->nlmsg_flags |= NLM_F_REQUEST;
  conversation->is_interrupted = false;
  if (send(conversation->socket, request, request->nlmsg_len, 0) < 0) return errno;
  for (;;) {
    ssize_t length = recv(conversation->socket, conversation->part, PART, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno;
    struct nlmsghdr *message = (struct nlmsghdr *)conversation->part;
    for (; NLMSG_OK(message, length); message = NLMSG_NEXT(message, length)) {
      if (message->nlmsg_seq != sequence) continue;
      if (message->nlmsg_flags & NLM_F_DUMP_INTR) conversation->is_interrupted = true;
      if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) {
        return error_in(message);
      }
      visit(message, data);
      if (!(message->nlmsg_flags & NLM_F_MULTI)) return 0;
    }
  }
}

/* Dumps, and again where that was interrupted: what is visited then may have been before. Returns 0 or the errno. */
static int dump(struct conversation *conversation, struct nlmsghdr *request, visit_message *visit,
                void *data) {
  int error;
  int dumps = 0;
  request->nlmsg_flags = NLM_F_DUMP;
  do error = ask(conversation, request, visit, data);
  while (error == 0 && conversation->is_interrupted && ++dumps < MOST_DUMPS);
  return error;
}

/* The first attribute of a type among some, of so many bytes; NULL where there is none. */
static struct rtattr *find(void *attributes, size_t length, unsigned short type) {
  int left = (int)length;
  struct rtattr *attribute = attributes;
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    if (attribute->rta_type == type) return attribute;
  }
  return NULL;
}

/* The attribute of a type behind the header of a message. */
static struct rtattr *find_in(struct nlmsghdr *message, size_t header, unsigned short type) {
  size_t begin = NLMSG_SPACE(header);
  if (message->nlmsg_len < begin) return NULL;
  return find((char *)message + begin, message->nlmsg_len - begin, type);
}

/* What is in it; NULL where there is none of this size at least. */
static const void *attribute(struct nlmsghdr *message, size_t header, unsigned short type,
                             size_t size) {
  struct rtattr *found = find_in(message, header, type);
  return found && RTA_PAYLOAD(found) >= size ? RTA_DATA(found) : NULL;
}

/* The id in an attribute of a message; -1 where it has none. */
static int32_t id_in(struct nlmsghdr *message, size_t header, unsigned short type) {
  const int32_t *id = attribute(message, header, type, sizeof *id);
  return id ? *id : -1;
}

/* Ids, some of them several times. */
struct ids {
  int32_t *all;
  size_t count, capacity;
};

static void add_id(struct ids *ids, int32_t id) {
  if (id < 0) return;
  if (ids->count == ids->capacity) {
    ids->capacity = ids->capacity * 2 + 64;
    ids->all = xrealloc(ids->all, ids->capacity * sizeof *ids->all);
  }
  ids->all[ids->count++] = id;
}

static void visit_id(struct nlmsghdr *message, void *data) {
  add_id(data, id_in(message, sizeof(struct rtgenmsg), NETNSA_NSID));
}

static void visit_link(struct nlmsghdr *message, void *data) {
  add_id(data, id_in(message, sizeof(struct ifinfomsg), IFLA_LINK_NETNSID));
}

static int compare_ids(const void *a, const void *b) {
  int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;
  return (first > second) - (first < second);
}

/* Dumps the links of this namespace. Returns 0 or the errno. */
static int dump_links(struct conversation *conversation, visit_message *visit, void *data) {
  struct {
    struct nlmsghdr header;
    struct ifinfomsg body;
    struct rtattr attribute;
    uint32_t mask;
  } request = {{.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETLINK},
               {.ifi_family = AF_UNSPEC},
               {RTA_LENGTH(sizeof request.mask), IFLA_EXT_MASK},
               RTEXT_FILTER_SKIP_STATS};
  return dump(conversation, &request.header, visit, data);
}

/* Finds the ids that this namespace has for others, in ascending order, some perhaps several times. */
static void find_ids(struct conversation *conversation, struct ids *ids) {
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
    char padding[3];
  } of_ids = {{.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)), .nlmsg_type = RTM_GETNSID},
              {AF_UNSPEC},
              {0}};
  dump(conversation, &of_ids.header, visit_id, ids);
  if (ids->count >= MANY_IDS) dump_links(conversation, visit_link, ids);
  if (ids->count > 0) qsort(ids->all, ids->count, sizeof *ids->all, compare_ids);
}

enum {
  /* A line is shorter: 32 digits, a space, an id, a line end; or a link's numbers, name and kind. */
  LONGEST_LINE = 128,
  FIRST_LINES = 1024,
};

/* Lines as they are written. */
struct lines {
  char *text;
  size_t length, capacity;
  uint8_t family;
  /* The namespace that was asked about; -1 for that of this process. */
  int32_t id;
};

/* Makes room for one more line, and returns where it begins. */
static char *next_line(struct lines *lines) {
  if (lines->capacity - lines->length < LONGEST_LINE) {
    lines->capacity = lines->capacity * 2 + FIRST_LINES;
    lines->text = xrealloc(lines->text, lines->capacity);
  }
  return lines->text + lines->length;
}

/* Adds a line for an address, in network byte order. */
static void add_line(struct lines *lines, const uint8_t *bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  char *at = next_line(lines);
  const char *line = at;
  for (size_t half = 0; half < size * 2; half++) {
    unsigned digit = half % 2 == 0 ? bytes[half / 2] >> 4 : bytes[half / 2] & 15;
    /* Without leading zeros; of zero the last one stays. */
    if (at > line || digit != 0 || half + 1 == size * 2) *at++ = digits[digit];
  }
  size_t left = LONGEST_LINE - (size_t)(at - line);
  int rest = lines->id < 0 ? snprintf(at, left, " -\n") : snprintf(at, left, " %" PRId32 "\n", lines->id);
  lines->length += (size_t)(at - line) + (size_t)rest;
}

static size_t size_of_address(uint8_t family) {
  return family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
}

/* The address in a message, in network byte order; NULL where it is not what was asked for. */
static const uint8_t *address_in(struct nlmsghdr *message, const struct lines *lines) {
  const struct ifaddrmsg *body = NLMSG_DATA(message);
  enum { HEADER = sizeof(struct ifaddrmsg) };
  if (message->nlmsg_len < NLMSG_SPACE(HEADER) || body->ifa_family != lines->family) return NULL;
  if (id_in(message, HEADER, IFA_TARGET_NETNSID) != lines->id) return NULL;
  size_t size = size_of_address(lines->family);
  const uint8_t *bytes = attribute(message, HEADER, IFA_LOCAL, size);
  return bytes ? bytes : attribute(message, HEADER, IFA_ADDRESS, size);
}

static void visit_address(struct nlmsghdr *message, void *data) {
  struct lines *lines = data;
  const uint8_t *bytes = address_in(message, lines);
  if (bytes) add_line(lines, bytes, size_of_address(lines->family));
}

/* Dumps the addresses of one namespace. Returns 0 or the errno. */
static int dump_addresses(struct conversation *conversation, struct lines *lines,
                          visit_message *visit) {
  struct {
    struct nlmsghdr header;
    struct ifaddrmsg body;
    struct rtattr attribute;
    int32_t id;
  } request = {{.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETADDR},
               {.ifa_family = lines->family},
               {RTA_LENGTH(sizeof request.id), IFA_TARGET_NETNSID},
               lines->id};
  if (lines->id < 0) request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.body);
  return dump(conversation, &request.header, visit, lines);
}

static void take_id(struct nlmsghdr *message, void *data) {
  *(int32_t *)data = id_in(message, sizeof(struct rtgenmsg), NETNSA_NSID);
}

/* Asks for the id of a namespace that is open, or gives it one. Returns 0 or the errno. */
static int ask_for_id(struct conversation *conversation, uint16_t type, int namespace,
                      int32_t *id) {
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
    char padding[3];
    struct rtattr of_file;
    int32_t file;
    struct rtattr of_id;
    int32_t id;
  } request = {{.nlmsg_len = sizeof request, .nlmsg_type = type},
               {AF_UNSPEC},
               {0},
               {RTA_LENGTH(sizeof request.file), NETNSA_FD},
               namespace,
               {RTA_LENGTH(sizeof request.id), NETNSA_NSID},
               -1};
  if (type == RTM_GETNSID) request.header.nlmsg_len = offsetof(typeof(request), of_id);
  else request.header.nlmsg_flags = NLM_F_ACK;
  return ask(conversation, &request.header, take_id, id);
}

/* The id of the namespace at a path, which gets one; -1 where that is not possible. */
static int32_t give_id(struct conversation *conversation, const char *path) {
  int32_t id = -1;
  /* Without O_NONBLOCK, something else at the path could block. */
  int namespace = open_retrying(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (namespace < 0) return id;
  /* Where it has one, this is EEXIST. */
  ask_for_id(conversation, RTM_NEWNSID, namespace, &id);
  ask_for_id(conversation, RTM_GETNSID, namespace, &id);
  close(namespace);
  return id;
}

/*
 * The own addresses are asked for first: how much the kernel puts in one part depends on the room that it has been offered
 * before. A namespace that is ending, or is not to be asked about by this process, is left out.
 */
static int write_addresses(struct conversation *conversation, struct lines *lines,
                           const char *but) {
  int error = dump_addresses(conversation, lines, visit_address);
  if (error != 0 || !conversation->is_strict) return error;
  int32_t left_out = but ? give_id(conversation, but) : -1;
  struct ids ids = {0};
  find_ids(conversation, &ids);
  for (size_t at = 0; at < ids.count; at++) {
    lines->id = ids.all[at];
    bool is_new = at == 0 || ids.all[at - 1] != lines->id;
    if (is_new && lines->id != left_out) dump_addresses(conversation, lines, visit_address);
  }
  free(ids.all);
  return 0;
}

JSValue host_linked_addresses(struct call *call) {
  const char *but = NULL;
  if (!JS_IsUndefined(call->args[1]) && !(but = path_at(call, 1))) return JS_EXCEPTION;
  struct conversation *conversation = begin(call);
  if (!conversation) return JS_EXCEPTION;
  struct lines lines = {.family = number_at(call, 0) == 4 ? AF_INET : AF_INET6, .id = -1};
  int error = write_addresses(conversation, &lines, but);
  end(conversation);
  JSValue made = error == 0 ? JS_NewStringLen(call->ctx, lines.text, lines.length)
                            : throw_errno(call, call->operation, error);
  free(lines.text);
  return made;
}

/* The text in an attribute, or `-`, of at most `IFNAMSIZ` bytes with its NUL; as names of links are, and of their kinds. */
static void copy_text(struct rtattr *attribute, char text[static IFNAMSIZ]) {
  if (!attribute) {
    snprintf(text, IFNAMSIZ, "-");
    return;
  }
  snprintf(text, IFNAMSIZ, "%.*s", (int)RTA_PAYLOAD(attribute), (const char *)RTA_DATA(attribute));
}

static void visit_named_link(struct nlmsghdr *message, void *data) {
  struct lines *lines = data;
  const struct ifinfomsg *body = NLMSG_DATA(message);
  enum { HEADER = sizeof(struct ifinfomsg) };
  if (message->nlmsg_len < NLMSG_SPACE(HEADER)) return;
  struct rtattr *more = find_in(message, HEADER, IFLA_LINKINFO);
  const int32_t *master = attribute(message, HEADER, IFLA_MASTER, sizeof *master);
  char name[IFNAMSIZ], kind[IFNAMSIZ];
  copy_text(find_in(message, HEADER, IFLA_IFNAME), name);
  copy_text(more ? find(RTA_DATA(more), RTA_PAYLOAD(more), IFLA_INFO_KIND) : NULL, kind);
  lines->length += (size_t)snprintf(
      next_line(lines), LONGEST_LINE, "%d %s %s %s %" PRId32 " %" PRId32 "\n", body->ifi_index,
      name, kind, body->ifi_flags & IFF_UP ? "up" : "down", master ? *master : 0,
      id_in(message, HEADER, IFLA_LINK_NETNSID));
}

static void visit_own_address(struct nlmsghdr *message, void *data) {
  struct lines *lines = data;
  const struct ifaddrmsg *body = NLMSG_DATA(message);
  const uint8_t *bytes = address_in(message, lines);
  char text[INET6_ADDRSTRLEN];
  if (!bytes) return;
  inet_ntop(lines->family, bytes, text, sizeof text);
  lines->length += (size_t)snprintf(next_line(lines), LONGEST_LINE, "%" PRIu32 " %s/%d\n",
                                    body->ifa_index, text, body->ifa_prefixlen);
}

JSValue host_network_links(struct call *call) {
  static const uint8_t families[] = {AF_INET, AF_INET6};
  struct conversation *conversation = begin(call);
  if (!conversation) return JS_EXCEPTION;
  struct lines lines = {.id = -1};
  int error = dump_links(conversation, visit_named_link, &lines);
  for (size_t at = 0; error == 0 && at < sizeof families; at++) {
    lines.family = families[at];
    error = dump_addresses(conversation, &lines, visit_own_address);
  }
  end(conversation);
  JSValue made = error == 0 ? new_text(call->ctx, lines.text, lines.length)
                            : throw_errno(call, call->operation, error);
  free(lines.text);
  return made;
}

/* The path of the call is that of the namespace. */
JSValue host_namespace_id(struct call *call) {
  int namespace = open_existing(call, O_RDONLY | O_NOCTTY);
  if (namespace < 0) return JS_EXCEPTION;
  struct conversation *conversation = begin(call);
  int32_t id = -1;
  int error = conversation ? ask_for_id(conversation, RTM_GETNSID, namespace, &id) : 0;
  close(namespace);
  if (!conversation) return JS_EXCEPTION;
  end(conversation);
  if (error != 0) return throw_errno(call, call->operation, error);
  return id < 0 ? JS_UNDEFINED : JS_NewInt32(call->ctx, id);
}
