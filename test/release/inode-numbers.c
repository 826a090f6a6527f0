/* Tests that the engine writes every inode number in decimal: undefined behaviour of the library is near 2^63. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <quickjs.h>

int main(void) {
  static const uint64_t numbers[] = {0, UINT64_C(9007199254740993), INT64_MAX, UINT64_C(1) << 63, UINT64_C(0xc000000000000123), UINT64_MAX};
  JSRuntime *runtime = JS_NewRuntime();
  JSContext *ctx = JS_NewContext(runtime);
  for (size_t at = 0; at < sizeof numbers / sizeof numbers[0]; at++) {
    JSValue number = JS_NewBigUint64(ctx, numbers[at]);
    const char *text = JS_ToCString(ctx, number);
    char expected[32];
    snprintf(expected, sizeof expected, "%" PRIu64, numbers[at]);
    if (!text || strcmp(text, expected) != 0) {
      printf("expected %s, found %s\n", expected, text ? text : "nothing");
      return 1;
    }
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, number);
  }
  JS_FreeContext(ctx);
  JS_FreeRuntime(runtime);
  return 0;
}
