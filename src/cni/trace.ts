/** The trace that a call belongs to; libcni passes the `TRACEPARENT` variable of its caller on to the plugin. */

/** W3C Trace Context, section 3.2: version, trace id, parent id, flags; ids of zeros only are invalid. */
const traceparent = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * The trace id in a value of `TRACEPARENT`.
 *
 * @returns 32 hexadecimal digits, or `undefined` where the value is absent or invalid
 */
export function traceId(value: string | undefined): string | undefined {
  return value === undefined ? undefined : traceparent.exec(value)?.[1];
}

/**
 * Adds the trace to a text, if there is one.
 *
 * @param text what the trace follows; may be empty
 * @param separator what stands between the two
 * @param value of `TRACEPARENT`
 * @example withTrace("ADD c1 eth0", ", ", value) // "ADD c1 eth0, trace 4bf92f3577b34da6a3ce929d0e0e4736"
 */
export function withTrace(text: string, separator: string, value: string | undefined): string {
  const id = traceId(value);
  if (id === undefined) return text;
  return `${text}${text === "" ? "" : separator}trace ${id}`;
}
