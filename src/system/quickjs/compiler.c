/*
 * Compiles a bundled program to QuickJS bytecode and writes it as C source, to be linked with
 * host.c. Usage: compiler NAME BUNDLE.js >NAME.c
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <quickjs.h>

/* The whole file with a final NUL, which JS_Eval needs; NULL where it cannot be read. */
static char *read_source(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *text = NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) {
      text = malloc((size_t)size + 1);
      if (text && fread(text, 1, (size_t)size, file) == (size_t)size) {
        text[size] = '\0';
        *length = (size_t)size;
      } else {
        free(text);
        text = NULL;
      }
    }
  }
  return fclose(file) == 0 ? text : NULL;
}

static bool write_program(const char *name, const uint8_t *bytes, size_t length) {
  if (printf("#include <stddef.h>\n#include <stdint.h>\n"
             "extern const uint8_t %s_program[];\nextern const size_t %s_program_size;\n"
             "const size_t %s_program_size = %zu;\nconst uint8_t %s_program[] = {",
             name, name, name, length, name) < 0) {
    return false;
  }
  for (size_t at = 0; at < length; at++) {
    if (printf("%s%u,", at % 24 == 0 ? "\n" : "", bytes[at]) < 0) return false;
  }
  return printf("\n};\n") >= 0 && fflush(stdout) == 0;
}

static int compile(JSContext *ctx, const char *name, const char *source, size_t length) {
  JSValue program = JS_Eval(ctx, source, length, "host-local",
                            JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY);
  if (JS_IsException(program)) {
    const char *text = JS_ToCString(ctx, JS_GetException(ctx));
    fprintf(stderr, "compiler: %s\n", text ? text : "out of memory");
    return 1;
  }
  size_t size;
  uint8_t *bytes = JS_WriteObject(ctx, &size, program, JS_WRITE_OBJ_BYTECODE);
  if (!bytes || !write_program(name, bytes, size)) {
    fprintf(stderr, "compiler: cannot write the program\n");
    return 1;
  }
  return 0;
}

int main(int count, char **arguments) {
  size_t length = 0;
  char *source = count == 3 ? read_source(arguments[2], &length) : NULL;
  JSRuntime *runtime = JS_NewRuntime();
  JSContext *ctx = runtime ? JS_NewContext(runtime) : NULL;
  if (!source || !ctx) {
    fprintf(stderr, "usage: compiler NAME BUNDLE.js >NAME.c\n");
    return 2;
  }
  JS_SetStripInfo(runtime, JS_STRIP_SOURCE | JS_STRIP_DEBUG);
  return compile(ctx, arguments[1], source, length);
}
