/* Tests of src/system/quickjs/call.c: calls a host function that takes as many texts as the first argument says. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/quickjs/call.h"

static int texts;

static JSValue take_texts(struct call *call) {
  size_t length;
  for (int at = 0; at < texts; at++) {
    if (strcmp(text_at(call, at, &length), "text") != 0 || length != 4) exit(2);
  }
  return JS_UNDEFINED;
}

int main(int count, char **arguments) {
  static const struct function function = {"takeTexts", MOST_TEXTS + 1, take_texts, NULL, 0, NULL};
  JSRuntime *runtime = JS_NewRuntime();
  JSContext *ctx = JS_NewContext(runtime);
  JSValue given[MOST_TEXTS + 1];
  texts = count > 1 ? atoi(arguments[1]) : 0;
  for (int at = 0; at <= MOST_TEXTS; at++) given[at] = JS_NewString(ctx, "text");
  call_function(ctx, &function, given);
  for (int at = 0; at <= MOST_TEXTS; at++) JS_FreeValue(ctx, given[at]);
  JS_FreeContext(ctx);
  JS_FreeRuntime(runtime);
  puts("returned");
  return 0;
}
