/** The list of valid attachments in a GC call. */

import type { NetworkConfiguration } from "./call.ts";
import { CniError, ErrorCode } from "./error.ts";
import { elements, type Located, memberInAnyCase, memberOrNullInAnyCase, text } from "./json.ts";

/** An entry of the list. */
export interface ValidAttachment {
  readonly containerId: string;
  readonly interfaceName: string;
}

/**
 * Reads `cni.dev/valid-attachments` or, where that is absent, the older `cni.dev/attachments` (CNI SPEC 1.1.0,
 * section 2 "GC"). `null` is no list: CRI-O sends it for every network but its default one, whatever pods there are.
 *
 * @returns `undefined` where the caller sent no list
 * @throws CniError 7 where the list is malformed
 */
export function validAttachments({
  document,
}: NetworkConfiguration): readonly ValidAttachment[] | undefined {
  const at =
    memberOrNullInAnyCase(document, "cni.dev/valid-attachments") ??
    memberOrNullInAnyCase(document, "cni.dev/attachments");
  if (at === undefined || at.value === null) return undefined;
  try {
    return elements(at).map((element) => ({
      containerId: required(element, "containerID"),
      interfaceName: required(element, "ifname"),
    }));
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw error.code === ErrorCode.invalidNetworkConfig ? error : malformed(error.message);
  }
}

function required(at: Located, name: string): string {
  const value = text(memberInAnyCase(at, name));
  if (value === "") throw malformed(`${at.path}.${name} is missing`);
  return value;
}

function malformed(reason: string): CniError {
  return new CniError(
    ErrorCode.invalidNetworkConfig,
    "invalid list of valid attachments",
    `${reason}; expected [{"containerID": "…", "ifname": "…"}]. Nothing was released`,
  );
}
