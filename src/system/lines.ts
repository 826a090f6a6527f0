/** Finding lines in a text. */

/**
 * The whole lines of a text that begin with `start`, in their order, without their ends. What follows the last line end is no
 * line.
 *
 * @param from where the first line begins
 */
export function linesIn(text: string, start: string, from = 0): readonly string[] {
  const found: string[] = [];
  let at = text.startsWith(start, from) ? from : next(text, start, from);
  while (at >= 0) {
    const end = text.indexOf("\n", at);
    if (end < 0) break;
    found.push(text.slice(at, end));
    at = next(text, start, end);
  }
  return found;
}

function next(text: string, start: string, from: number): number {
  const at = text.indexOf(`\n${start}`, from);
  return at < 0 ? at : at + 1;
}

/** The lines of a text without their ends, one after the other as they are asked for; one without its end is none. */
export function* eachLine(text: string): Generator<string, void> {
  let at = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
    yield text.slice(at, end);
    at = end + 1;
  }
}
