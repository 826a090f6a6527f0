/** Texts from bytes of the machine, which need not be UTF-8. */

import { isUtf8 } from "node:buffer";

const REPLACEMENT = "\ufffd";

/** A character of several bytes, which are characters of Latin-1 here (RFC 3629, section 4), or any other byte beyond ASCII. */
const BEYOND_ASCII =
  /([\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})|[\x80-\xff]/g;

/**
 * The text of bytes. As in Go, U+FFFD stands for each byte that begins no character, so that a text in JSON, such as the path
 * of a directory, is what it is for the Go plugin; Node.js writes one for all bytes that begin a character together.
 */
export function decodedUtf8(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!isInexact(text) || isUtf8(bytes)) return text;
  return bytes
    .toString("latin1")
    .replace(BEYOND_ASCII, (_, character?: string) =>
      character === undefined ? REPLACEMENT : Buffer.from(character, "latin1").toString("utf8"),
    );
}

/** Whether a text that Node.js itself has made of bytes may be another than `decodedUtf8` makes of them. */
export function isInexact(text: string): boolean {
  return text.includes(REPLACEMENT);
}
