/* See out-of-memory.h. */

#include "out-of-memory.h"

#include <unistd.h>

bool is_plugin, has_output;

/* Not by write_all of input-output.h, which needs memory elsewhere: this short a text is written whole or not at all. */
static bool print(int stream, const char *text, size_t length) {
  return write(stream, text, length) == (ssize_t)length;
}

void out_of_memory(void) {
  static const char error[] = "{\n    \"code\": 999,\n    \"msg\": \"out of memory\"\n}";
  static const char message[] = "host-local: out of memory\n";
  bool written = is_plugin ? has_output || print(STDOUT_FILENO, error, sizeof error - 1)
                           : print(STDERR_FILENO, message, sizeof message - 1);
  _exit(is_plugin && written ? 1 : 2);
}
