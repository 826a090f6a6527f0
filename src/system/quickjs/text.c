/* See text.h. */

#include "text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"

static const char replacement[] = "\xef\xbf\xbd";

enum { REPLACEMENT = sizeof replacement - 1 };

/* How many bytes the character has that begins here; 0 where none does (RFC 3629, section 4). */
static size_t character_size(const uint8_t *bytes, size_t left) {
  uint8_t first = bytes[0];
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (size > left) return 0;
  /* Neither a longer form than needed, nor half of a pair, nor more than U+10FFFF. */
  uint8_t lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  uint8_t highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (bytes[1] < lowest || bytes[1] > highest) return 0;
  for (size_t at = 2; at < size; at++) {
    if ((bytes[at] & 0xc0) != 0x80) return 0;
  }
  return size;
}

/* How many bytes are UTF-8, up to the first one that is not. */
static size_t valid_length(const uint8_t *bytes, size_t length) {
  size_t at = 0;
  while (at < length) {
    uint64_t word;
    /* Nearly all texts are ASCII. */
    while (length - at >= sizeof word) {
      memcpy(&word, bytes + at, sizeof word);
      if (word & 0x8080808080808080) break;
      at += sizeof word;
    }
    if (at == length) break;
    size_t size = character_size(bytes + at, length - at);
    if (size == 0) break;
    at += size;
  }
  return at;
}

/* How long the bytes are with replacements, which are written unless there is nowhere to. */
static size_t replace(const uint8_t *bytes, size_t length, char *written) {
  size_t size = 0;
  while (length > 0) {
    size_t valid = valid_length(bytes, length);
    if (written) memcpy(written + size, bytes, valid);
    size += valid;
    if (valid == length) break;
    if (written) memcpy(written + size, replacement, REPLACEMENT);
    size += REPLACEMENT;
    bytes += valid + 1;
    length -= valid + 1;
  }
  return size;
}

JSValue new_text(JSContext *ctx, const char *bytes, size_t length) {
  const uint8_t *given = (const uint8_t *)bytes;
  if (valid_length(given, length) == length) return JS_NewStringLen(ctx, bytes, length);
  size_t size = replace(given, length, NULL);
  char *text = xrealloc(NULL, size);
  replace(given, length, text);
  JSValue made = JS_NewStringLen(ctx, text, size);
  free(text);
  return made;
}

JSValue new_latin1(JSContext *ctx, const char *bytes, size_t length) {
  char *text = xrealloc(NULL, 2 * length + 1);
  size_t size = 0;
  for (size_t at = 0; at < length; at++) {
    uint8_t byte = (uint8_t)bytes[at];
    if (byte >= 0x80) text[size++] = (char)(0xc0 | byte >> 6);
    text[size++] = (char)(byte < 0x80 ? byte : 0x80 | (byte & 0x3f));
  }
  JSValue made = JS_NewStringLen(ctx, text, size);
  free(text);
  return made;
}

JSValue new_text_to_nul(JSContext *ctx, const char *bytes) {
  return new_text(ctx, bytes, strlen(bytes));
}
