/*
 * The native executable: a QuickJS engine, the plugin as bytecode, and the system calls that the
 * plugin uses. It knows nothing of CNI; quickjs-system.ts implements `System` with it.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "functions.h"
#include "input-output.h"
#include "out-of-memory.h"
#include "snapshot.h"
#include "text.h"

/* The operator commands, compiled by compiler.c. */
extern const uint8_t operator_program[];
extern const size_t operator_program_size;

static JSValue host_environment(struct call *call) {
  size_t length;
  const char *value = getenv(text_at(call, 0, &length));
  return value ? new_text_to_nul(call->ctx, value) : JS_UNDEFINED;
}

static JSValue host_now(struct call *call) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return JS_NewInt64(call->ctx, nanoseconds(time) / 1000000);
}

static JSValue host_monotonic(struct call *call) {
  return JS_NewInt64(call->ctx, monotonic() / 1000000);
}

static JSValue host_sleep(struct call *call) {
  const int64_t milliseconds = (int64_t)number_at(call, 0);
  struct timespec left = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
  while (nanosleep(&left, &left) < 0 && errno == EINTR) continue;
  return JS_UNDEFINED;
}

static JSValue host_process_id(struct call *call) {
  static pid_t own;
  if (own == 0) own = getpid();
  return JS_NewInt32(call->ctx, own);
}

static JSValue host_user_id(struct call *call) { return JS_NewUint32(call->ctx, geteuid()); }

/* Set by the program as its last act. */
static int exit_code = 2;

static JSValue host_exit(struct call *call) {
  exit_code = (int)number_at(call, 0);
#ifdef SNAPSHOT_REHEARSAL
  report_written();
#endif
#ifndef HOST_CHECKED
  /* The kernel frees what the engine would free one by one. */
  _exit(exit_code);
#endif
  return JS_UNDEFINED;
}

/* What the program calls, and what quickjs/host.ts describes. */
static const struct function functions[] = {
    {"environment", 1, host_environment, NULL, 0, NULL},
    {"readStandardInput", 2, host_read_input, "read", 0, "/dev/stdin"},
    {"standardInputBytes", 0, host_input_bytes, NULL, 0, NULL},
    {"writeStandardOutput", 1, host_write_output, "write", 0, "/dev/stdout"},
    {"writeStandardError", 1, host_write_error, NULL, 0, NULL},
    {"readFile", 2, host_read_file, "open", 0, NULL},
    {"createFile", 3, host_create_file, "open", 0, NULL},
    {"overwriteFile", 2, host_overwrite_file, "open", 0, NULL},
    {"link", 2, host_link, "link", 1, NULL},
    {"rename", 2, host_rename, "rename", 1, NULL},
    {"sync", 1, host_sync, "open", 0, NULL},
    {"unlink", 1, host_unlink, "unlink", 0, NULL},
    {"readLink", 1, host_read_link, "readlink", 0, NULL},
    {"setModified", 2, host_set_modified, "utimensat", 0, NULL},
    {"makeDirectory", 2, host_make_directory, "mkdir", 0, NULL},
    {"list", 1, host_list, "open", 0, NULL},
    {"listAddresses", 1, host_list_addresses, "open", 0, NULL},
    {"openFile", 2, host_open_file, "open", 0, NULL},
    {"readFiles", 3, host_read_files, "open", 0, NULL},
    {"findLines", 2, host_find_lines, "open", 0, NULL},
    {"linesWith", 2, host_lines_with, "open", 0, NULL},
    {"extendFile", 3, host_extend_file, "open", 0, NULL},
    {"appendLine", 3, host_append_line, "open", 0, NULL},
    {"status", 1, host_status, "stat", 0, NULL},
    {"linkStatus", 1, host_link_status, "lstat", 0, NULL},
    {"permissions", 1, host_permissions, "lstat", 0, NULL},
    {"namespaceHandle", 1, host_namespace_handle, "name_to_handle_at", 0, NULL},
    {"opensNamespace", 2, host_opens_namespace, "open_by_handle_at", 0, "nsfs"},
    {"linkedAddresses", 2, host_linked_addresses, "netlink", 0, "route"},
    {"fileSystemType", 1, host_file_system_type, "statfs", 0, NULL},
    {"isFull", 1, host_is_full, "statfs", 0, NULL},
    {"requireAccess", 1, host_require_access, "access", 0, NULL},
    {"requireOpenable", 2, host_require_openable, "open", 0, NULL},
    {"flock", 2, host_lock, "open", 0, NULL},
    {"unlock", 1, host_unlock, NULL, 0, NULL},
    {"now", 0, host_now, NULL, 0, NULL},
    {"monotonic", 0, host_monotonic, NULL, 0, NULL},
    {"processId", 0, host_process_id, NULL, 0, NULL},
    {"userId", 0, host_user_id, NULL, 0, NULL},
    {"sleep", 1, host_sleep, NULL, 0, NULL},
    {"exit", 1, host_exit, NULL, 0, NULL},
    {"isTerminal", 1, host_is_terminal, NULL, 0, NULL},
    {"terminalSize", 0, host_terminal_size, NULL, 0, NULL},
    {"readLine", 0, host_read_line, "read", 0, "/dev/stdin"},
    {"readPipe", 3, host_read_pipe, "open", 0, NULL},
    {"copyFile", 3, host_copy_file, "open", 1, NULL},
    {"networkLinks", 0, host_network_links, "netlink", 0, "route"},
    {"namespaceId", 1, host_namespace_id, "netlink", 0, NULL},
    {"hasText", 2, host_has_text, "open", 0, NULL},
    {"readFileIn", 3, host_read_file_in, "open", 0, NULL},
    {"endOnSignals", 0, host_end_on_signals, NULL, 0, NULL},
    {"listen", 3, host_listen, "listen", 0, NULL},
    {"start", 4, host_start, "exec", 0, NULL},
    {"wait", 1, host_wait, "poll", 0, ""},
    {"answer", 1, host_answer, NULL, 0, NULL},
    {"result", 1, host_result, "exec", 0, NULL},
};

/* Every function is reached through here: while the snapshot is made, there is no machine. */
static JSValue call_host(JSContext *ctx, JSValueConst self, int count, JSValueConst *args,
                         int index) {
  (void)self, (void)count;
  if (!is_building()) return call_function(ctx, &functions[index], args);
  return JS_ThrowInternalError(ctx, "host.%s is called before a call is served",
                               functions[index].name);
}

static JSValue make_object(JSContext *ctx) {
  JSValue host = JS_NewObject(ctx);
  for (size_t at = 0; at < sizeof functions / sizeof functions[0]; at++) {
    const struct function *entry = &functions[at];
    JSValue function = JS_NewCFunctionMagic(ctx, call_host, entry->name, entry->length,
                                            JS_CFUNC_generic_magic, (int)at);
    JS_SetPropertyStr(ctx, host, entry->name, function);
  }
  return host;
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

/*
 * A runtime passes no arguments; a caller that sets CNI_COMMAND is a runtime in any case. The `static` plugin has no
 * operator's tool: it ignores arguments.
 */
static bool is_operator(int count) {
  const char *command = getenv("CNI_COMMAND");
  return count > 1 && (!command || *command == '\0') &&
         strcmp(program_invocation_short_name, "static") != 0;
}

static bool run_plugin(const struct engine *engine) {
  JSContext *ctx = engine->ctx;
  JSValue serve = given("serve"), argument = new_text_to_nul(ctx, program_invocation_short_name);
  JSValue result = JS_Call(ctx, serve, JS_UNDEFINED, 1, &argument);
  bool completed = !JS_IsException(result);
  JS_FreeValue(ctx, serve);
  JS_FreeValue(ctx, argument);
  JS_FreeValue(ctx, result);
  return completed;
}

static bool run_operator(const struct engine *engine, char **words) {
  struct list arguments = {.array = JS_NewArray(engine->ctx)};
  while (*++words) append(engine->ctx, &arguments, new_text_to_nul(engine->ctx, *words));
  JS_SetPropertyStr(engine->ctx, engine->host, "arguments", arguments.array);
  return evaluate(engine->ctx, operator_program, operator_program_size);
}

int main(int count, char **arguments) {
  if (!has_snapshot()) return write_snapshot(make_object);
  keep_closed_streams();
  /* Files get the requested modes, independent of the caller's umask. */
  umask(022);
  /* A closed pipe or a file size limit is an error to handle, not a signal that kills the process. */
  if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return 2;
  is_plugin = !is_operator(count);
  struct engine *engine = start_engine(make_object);
  if (!(is_plugin ? run_plugin(engine) : run_operator(engine, arguments))) {
    report_exception(engine->ctx);
  }
#ifdef HOST_CHECKED
  /* The kernel frees everything at exit; only leak checks need this. */
  JS_FreeValue(engine->ctx, engine->host);
  JS_FreeContext(engine->ctx);
  JS_FreeRuntime(engine->runtime);
#endif
  return exit_code;
}
