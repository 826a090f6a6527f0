/** The error type of the plugin, with the code that the runtime receives. */

/** Error codes of CNI SPEC 1.1.0, section 5 "Error", and those of the library of the Go plugin. */
export const ErrorCode = {
  incompatibleVersion: 1,
  invalidEnvironment: 4,
  ioFailure: 5,
  decodingFailure: 6,
  invalidNetworkConfig: 7,
  invalidNetworkNamespace: 8,
  tryAgainLater: 11,
  pluginNotAvailable: 50,
  internal: 999,
} as const;

/** An error that is reported to the runtime as an error object (CNI SPEC 1.1.0, section 5). */
export class CniError extends Error {
  readonly code: number;
  /** What was expected, what was found, where, and what to do next; empty where the message says it all. */
  readonly details: string;

  constructor(code: number, message: string, details = "") {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/**
 * A failure that the Go plugin reports as a plain error, hence with code 999.
 *
 * @param message the Go plugin's own words
 * @param details what was expected, what was found, and where; none if they are the message again
 */
export function internalError(message: string, details = ""): CniError {
  return new CniError(ErrorCode.internal, message, details === message ? "" : details);
}

/** The message of an error and its details, if any, in one line. */
export function messageWithDetails(error: Error): string {
  return error instanceof CniError ? withDetails(error) : error.message;
}

/** A message and its details, if any, in one line. */
export function withDetails({ message, details }: Pick<CniError, "message" | "details">): string {
  return details === "" ? message : `${message}; ${details}`;
}

/** Converts any thrown value to the error that is printed. */
export function asCniError(thrown: unknown): CniError {
  if (thrown instanceof CniError) return thrown;
  return internalError(thrown instanceof Error ? thrown.message : String(thrown));
}
