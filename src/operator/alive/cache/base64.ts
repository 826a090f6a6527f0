/** Base64, which QuickJS has no function for. */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * The text whose UTF-8 bytes are given in base64, with or without its padding.
 *
 * @throws SyntaxError where a character is none of base64
 * @throws URIError where the bytes are not UTF-8
 */
export function textOfBase64(encoded: string): string {
  let escaped = "";
  let bits = 0;
  let count = 0;
  for (const digit of encoded.replace(/=+$/, "")) {
    const value = DIGITS.indexOf(digit);
    if (value < 0) throw new SyntaxError(`invalid base64: ${digit}`);
    bits = (bits << 6) | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    escaped += `%${((bits >> count) & 0xff).toString(16).padStart(2, "0")}`;
    bits &= (1 << count) - 1;
  }
  return decodeURIComponent(escaped);
}
