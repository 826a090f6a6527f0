/* See call.h. */

#define _GNU_SOURCE
#include "call.h"

#include <errno.h>
#include <string.h>

#include "engine.h"

static bool set_path(struct call *call, const struct function *function) {
  if (function->file) {
    call->path = function->file;
    call->path_length = strlen(call->path);
    return true;
  }
  if (!function->operation) return true;
  call->path = text_at(call, function->path, &call->path_length);
  if (!call->path) return false;
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
  const char *text = JS_ToCStringLen(call->ctx, length, call->args[at]);
  if (text) call->texts[call->text_count++] = text;
  return text;
}

const char *path_at(struct call *call, int at) {
  size_t length;
  const char *path = text_at(call, at, &length);
  if (!path || strlen(path) == length) return path;
  throw_errno(call, call->operation, EINVAL);
  return NULL;
}

double number_at(const struct call *call, int at) {
  double number;
  return JS_ToFloat64(call->ctx, &number, call->args[at]) < 0 ? 0 : number;
}

JSValue system_error(JSContext *ctx, const char *operation, JSValue path, int error) {
  const char *code = strerrorname_np(error);
  JSValue arguments[] = {
      JS_NewString(ctx, operation),
      path,
      JS_NewString(ctx, code ? code : "EINVAL"),
  };
  JSValue made = JS_EXCEPTION;
  if (!JS_IsException(arguments[0]) && !JS_IsException(path) && !JS_IsException(arguments[2])) {
    made = JS_CallConstructor(ctx, given(ERROR_CLASS), 3, arguments);
  }
  for (int at = 0; at < 3; at++) JS_FreeValue(ctx, arguments[at]);
  return made;
}

JSValue throw_errno(const struct call *call, const char *operation, int error) {
  JSContext *ctx = call->ctx;
  JSValue path = JS_NewStringLen(ctx, call->path, call->path_length);
  JSValue made = system_error(ctx, operation, path, error);
  return JS_IsException(made) ? JS_EXCEPTION : JS_Throw(ctx, made);
}

JSValue done(const struct call *call, int result) {
  return result < 0 ? throw_errno(call, call->operation, errno) : JS_UNDEFINED;
}

JSValue object_of(JSContext *ctx, const struct member *members, size_t count) {
  JSValue object = JS_NewObject(ctx);
  bool failed = JS_IsException(object);
  for (size_t at = 0; at < count; at++) {
    JSValue value = members[at].value;
    if (failed || JS_IsException(value)) {
      JS_FreeValue(ctx, value);
      failed = true;
    } else {
      failed = JS_DefinePropertyValueStr(ctx, object, members[at].name, value, JS_PROP_C_W_E) < 0;
    }
  }
  if (!failed) return object;
  JS_FreeValue(ctx, object);
  return JS_EXCEPTION;
}

bool append(JSContext *ctx, struct list *list, JSValue element) {
  /* Without memory there may be no array. */
  if (JS_IsException(list->array)) JS_FreeValue(ctx, element);
  return !JS_IsException(list->array) && !JS_IsException(element) &&
         JS_SetPropertyUint32(ctx, list->array, list->length++, element) >= 0;
}
