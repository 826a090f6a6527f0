/** Bytes that are not UTF-8, and what stands for them in a text. Bytes are written as Latin-1 here. */

/** Bytes in all kinds of disorder, each with the characters behind it that a careless decoder swallows. */
export const hostileBytes: readonly string[] = [
  // Bytes that continue a character, and begin none.
  'a\x80"b',
  "\xb0\nb",
  "\xbf;\xbf",
  "\xa7 b",
  // Bytes that begin no character at all.
  "\xc0\x80b",
  "\xc1\xbf}",
  "\xf5\x80\x80\x80,",
  "\xff\r\nb",
  "\xfe\xff",
  // Characters that are cut off, at the end and before another one.
  "\xc3",
  "\xc3(",
  "\xe2\x82",
  '\xe2\x82"',
  "\xf0\x9f\x98;b",
  "\xf0\x9f\xc3\xa9",
  // Halves of a pair, longer forms than needed, and codes beyond Unicode.
  "\xed\xa0\x80\n",
  "\xed\xbf\xbfb",
  "\xe0\x80\xafb",
  "\xe0\x9f\xbfb",
  "\xf0\x80\x80\xaf",
  "\xf0\x8f\xbf\xbf",
  "\xf4\x90\x80\x80",
  "\xf8\x88\x80\x80\x80",
  // Valid UTF-8.
  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
  "\xef\xbf\xbd\xef\xbb\xbf",
  "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\xef\xbf\xbf",
  "\xc3\xa9\xb0\xc3\xa9",
];

/** Each byte behind each byte that begins or continues a character of several, with a quote behind them. */
export const allPairs: string = Array.from({ length: 128 }, (_, first) =>
  Array.from({ length: 256 }, (_, second) => `${String.fromCharCode(128 + first, second)}"`),
)
  .flat()
  .join("");

/** The text for bytes: U+FFFD stands for each byte that begins no character, as in Go's utf8.DecodeRune. */
export function decoded(bytes: string): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const { code, size } = characterAt(bytes, at);
    text += String.fromCodePoint(code);
    at += size;
  }
  return text;
}

/** The forms of a character in UTF-8: the bits of the first byte that mark the form, and the smallest code that needs it. */
const FORMS = [
  { size: 1, mask: 0x80, marker: 0, least: 0 },
  { size: 2, mask: 0xe0, marker: 0xc0, least: 0x80 },
  { size: 3, mask: 0xf0, marker: 0xe0, least: 0x800 },
  { size: 4, mask: 0xf8, marker: 0xf0, least: 0x10000 },
] as const;

function characterAt(bytes: string, at: number): { readonly code: number; readonly size: number } {
  const first = bytes.charCodeAt(at);
  const form = FORMS.find(({ mask, marker }) => (first & mask) === marker);
  const invalid = { code: 0xfffd, size: 1 };
  if (form === undefined || at + form.size > bytes.length) return invalid;
  let code = first & ~form.mask;
  for (let next = at + 1; next < at + form.size; next++) {
    const byte = bytes.charCodeAt(next);
    if ((byte & 0xc0) !== 0x80) return invalid;
    code = code * 64 + (byte & 0x3f);
  }
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  return code < form.least || code > 0x10ffff || isHalf ? invalid : { code, size: form.size };
}
