/** Text from elsewhere on a terminal and in a shell. */

/**
 * Text as it is where it is plain, else in quotes and escaped, so that it cannot pretend to be anything else.
 *
 * @param text may hold control characters and whatever else
 */
export function printable(text: string): string {
  if (/^[\w.:/,@%+=-]+$/.test(text)) return text;
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** One word for a shell, whatever it holds. */
export function shellWord(text: string): string {
  return /^[\w.:/,@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
