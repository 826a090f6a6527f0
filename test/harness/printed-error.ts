/** The error object that a plugin prints on standard output. */

/** The members of a CNI error object. */
export interface PrintedError {
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

/**
 * Reads an error object.
 *
 * @param text the text on standard output
 * @returns the error, or undefined if the text is anything but one error object
 */
export function readError(text: string): PrintedError | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isPrintedError(value) ? value : undefined;
}

/**
 * Prints an error object byte for byte as the Go plugin does: four spaces, members in the order
 * code, msg, details, no empty details, no newline at the end, `<`, `>` and `&` escaped.
 *
 * @param error the error
 */
export function printError({ code, msg, details }: PrintedError): string {
  return JSON.stringify(details ? { code, msg, details } : { code, msg }, null, 4).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function isPrintedError(value: unknown): value is PrintedError {
  return (
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    typeof value.code === "number" &&
    "msg" in value &&
    typeof value.msg === "string" &&
    (!("details" in value) || typeof value.details === "string")
  );
}
