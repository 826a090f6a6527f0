/** An attachment: one interface of one container. */

import { CniError, ErrorCode } from "./error.ts";
import { isSpace, utf8Length } from "./unicode.ts";

/** A container id that was checked; see `parseContainerId`. */
export type ContainerId = string & { readonly proof: "container id" };

/** An interface name that was checked; see `parseInterfaceName`. */
export type InterfaceName = string & { readonly proof: "interface name" };

/** One interface of one container: the owner of reservations. */
export interface Attachment {
  readonly containerId: ContainerId;
  readonly interfaceName: InterfaceName;
}

/** The characters of container ids and network names (CNI SPEC 1.1.0, sections 1 and 2). */
const identifier = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** What stands in a text in place of bytes that are not UTF-8: no interface has a name with it otherwise. */
const NOT_UTF8 = /[\ufffd\ud800-\udfff]/u;

/** Whether `text` is an identifier by the specification, and so also a file name that cannot leave its directory. */
export function isIdentifier(text: string): boolean {
  return identifier.test(text);
}

/** Whether `text` is a valid container id. */
export function isContainerId(text: string): text is ContainerId {
  return isIdentifier(text);
}

/**
 * Checks a container id.
 *
 * @throws CniError 4 where a character is not allowed
 */
export function parseContainerId(text: string): ContainerId {
  if (!isContainerId(text)) {
    throw new CniError(ErrorCode.invalidEnvironment, "invalid characters in containerID", text);
  }
  return text;
}

/**
 * Checks an interface name by the rules of the Go plugin's `ValidateInterfaceName`: at most 15 bytes, not `.` or
 * `..`, no `/`, no `:`, no white space. And it must be UTF-8: other bytes, which the Go plugin writes as they are, cannot be
 * written from here.
 *
 * @throws CniError 4 that names the broken rule
 */
export function parseInterfaceName(text: string): InterfaceName {
  if (isUsualInterfaceName(text)) return text as InterfaceName;
  if (NOT_UTF8.test(text)) {
    throw new CniError(
      ErrorCode.invalidEnvironment,
      "interface name is not UTF-8",
      `CNI_IFNAME has other bytes than ${text}, and a reservation could not have them`,
    );
  }
  const problem = interfaceNameProblem(text);
  if (problem !== undefined) throw problem;
  return text as InterfaceName;
}

/** Whether `text` is an interface name that `parseInterfaceName` accepts, and neither empty nor with a NUL in it. */
export function isInterfaceName(text: string): text is InterfaceName {
  if (isUsualInterfaceName(text)) return true;
  return text !== "" && !text.includes("\0") && interfaceNameProblem(text) === undefined;
}

/** Nearly all are like this, and a directory may have 65 000. */
function isUsualInterfaceName(text: string): boolean {
  return /^[a-z][a-z0-9]{0,14}$/.test(text);
}

function interfaceNameProblem(text: string): CniError | undefined {
  if (utf8Length(text) > 15) {
    return new CniError(
      ErrorCode.invalidEnvironment,
      "interface name is too long",
      "interface name should be less than 16 characters",
    );
  }
  if (text === "." || text === "..") {
    return new CniError(ErrorCode.invalidEnvironment, "interface name is . or ..");
  }
  for (let at = 0; at < text.length; at++) {
    if (text.charAt(at) === "/" || text.charAt(at) === ":" || isSpace(text.charCodeAt(at))) {
      return new CniError(
        ErrorCode.invalidEnvironment,
        "interface name contains / or : or whitespace characters",
      );
    }
  }
  return undefined;
}
