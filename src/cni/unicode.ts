/** Text as Go sees it where JavaScript differs: white space, and lengths in bytes. */

/**
 * Whether a character has the Unicode property White_Space, as Go's `unicode.IsSpace` tests it.
 * JavaScript's `\s` adds U+FEFF and lacks U+0085.
 *
 * @param code a UTF-16 code unit; all white space lies in the basic plane
 */
export function isSpace(code: number): boolean {
  // Nearly all text is ASCII, and a directory may have 65 000 files.
  if (code > 0x20 && code < 0x85) return false;
  return (
    code === 0x20 ||
    (code >= 0x09 && code <= 0x0d) ||
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** `text` without white space at either end, as Go's `strings.TrimSpace`. */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** The words of `text` between runs of white space, as Go's `strings.Fields`. */
export function words(text: string): readonly string[] {
  const found: string[] = [];
  let start = -1;
  for (let at = 0; at <= text.length; at++) {
    const boundary = at === text.length || isSpace(text.charCodeAt(at));
    if (boundary && start >= 0) {
      found.push(text.slice(start, at));
      start = -1;
    } else if (!boundary && start < 0) {
      start = at;
    }
  }
  return found;
}

/** How many bytes `text` takes in UTF-8. */
export function utf8Length(text: string): number {
  // Nearly all text is ASCII, and to go through its characters takes QuickJS ten times as long.
  if (!BEYOND_ASCII.test(text)) return text.length;
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

const BEYOND_ASCII = /[\u0080-\uffff]/;
