/* See call.h. */

#define _GNU_SOURCE
#include "call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "text.h"

static bool set_path(struct call *call, const struct function *function) {
  if (function->file) {
    call->path = function->file;
    call->path_length = strlen(call->path);
    return true;
  }
  if (!function->operation) return true;
  call->path = text_at(call, function->path, &call->path_length);
  if (strlen(call->path) == call->path_length) return true;
  throw_errno(call, call->operation, EINVAL);
  return false;
}

JSValue call_function(JSContext *ctx, const struct function *function, JSValueConst *args) {
  struct call call = {.ctx = ctx, .args = args, .operation = function->operation};
  JSValue result = set_path(&call, function) ? function->call(&call) : JS_EXCEPTION;
  while (call.text_count > 0) JS_FreeCString(ctx, call.texts[--call.text_count]);
  return result;
}

const char *text_at(struct call *call, int at, size_t *length) {
  /* A function that takes more is to end its first test, not to write over the stack of a node. */
  if (call->text_count == MOST_TEXTS) abort();
  const char *text = JS_ToCStringLen(call->ctx, length, call->args[at]);
  if (!text) abort(); /* the program has given something else, against its types */
  call->texts[call->text_count++] = text;
  return text;
}

const char *path_at(struct call *call, int at) {
  size_t length;
  const char *path = text_at(call, at, &length);
  if (strlen(path) == length) return path;
  throw_errno(call, call->operation, EINVAL);
  return NULL;
}

static double number_from(JSContext *ctx, JSValueConst value) {
  double number;
  return JS_ToFloat64(ctx, &number, value) < 0 ? 0 : number;
}

double number_at(const struct call *call, int at) {
  return number_from(call->ctx, call->args[at]);
}

double member_at(const struct call *call, int at, const char *name) {
  JSValue member = JS_GetPropertyStr(call->ctx, call->args[at], name);
  double number = number_from(call->ctx, member);
  JS_FreeValue(call->ctx, member);
  return number;
}

JSValue system_error(JSContext *ctx, const char *operation, JSValue path, int error) {
  const char *name = strerrorname_np(error);
  JSValue class = given("SystemError"), code = JS_NewString(ctx, name ? name : "EINVAL");
  JSValue arguments[] = {JS_NewString(ctx, operation), path, code};
  JSValue made = JS_CallConstructor(ctx, class, 3, arguments);
  JS_FreeValue(ctx, class);
  for (int at = 0; at < 3; at++) JS_FreeValue(ctx, arguments[at]);
  return made;
}

JSValue throw_errno(const struct call *call, const char *operation, int error) {
  JSContext *ctx = call->ctx;
  JSValue path = new_text(ctx, call->path, call->path_length);
  JSValue made = system_error(ctx, operation, path, error);
  return JS_IsException(made) ? JS_EXCEPTION : JS_Throw(ctx, made);
}

JSValue done(const struct call *call, int result) {
  return result < 0 ? throw_errno(call, call->operation, errno) : JS_UNDEFINED;
}

JSValue object_of(JSContext *ctx, const struct member *members, size_t count) {
  JSValue object = JS_NewObject(ctx);
  bool failed = false;
  for (size_t at = 0; at < count; at++) {
    failed = failed || JS_IsException(members[at].value);
    JS_DefinePropertyValueStr(ctx, object, members[at].name, members[at].value, JS_PROP_C_W_E);
  }
  if (!failed) return object;
  JS_FreeValue(ctx, object);
  return JS_EXCEPTION;
}

void append(JSContext *ctx, struct list *list, JSValue element) {
  JS_SetPropertyUint32(ctx, list->array, list->length++, element);
}
