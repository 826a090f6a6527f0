/* Compiles a bundled program, from standard input, to QuickJS bytecode, on standard output. */

#include <stdint.h>
#include <stdio.h>

#include <quickjs.h>

enum { LARGEST_PROGRAM = 4 * 1024 * 1024 };

/* The program as text, with a final NUL, which JS_Eval needs. */
static char source[LARGEST_PROGRAM];

static int compile(JSContext *ctx, size_t length) {
  JSValue program = JS_Eval(ctx, source, length, "host-local",
                            JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY);
  if (JS_IsException(program)) {
    const char *text = JS_ToCString(ctx, JS_GetException(ctx));
    fprintf(stderr, "compiler: %s\n", text ? text : "out of memory");
    return 1;
  }
  size_t size;
  uint8_t *bytes = JS_WriteObject(ctx, &size, program, JS_WRITE_OBJ_BYTECODE);
  if (bytes && fwrite(bytes, 1, size, stdout) == size && fflush(stdout) == 0) return 0;
  fprintf(stderr, "compiler: cannot write the program\n");
  return 1;
}

int main(void) {
  size_t length = fread(source, 1, sizeof source, stdin);
  JSRuntime *runtime = JS_NewRuntime();
  JSContext *ctx = runtime ? JS_NewContext(runtime) : NULL;
  if (ferror(stdin) || length == sizeof source || !ctx) {
    fprintf(stderr, "compiler: cannot read the program, of at most %d bytes\n", LARGEST_PROGRAM - 1);
    return 2;
  }
  JS_SetStripInfo(runtime, JS_STRIP_SOURCE | JS_STRIP_DEBUG);
  return compile(ctx, length);
}
