/** The content of a reservation: its owner. */

import {
  type Attachment,
  type ContainerId,
  isContainerId,
  isInterfaceName,
} from "../../cni/attachment.ts";
import { trimSpace } from "../../cni/unicode.ts";
import type { SystemError } from "../../system/system.ts";

/**
 * The owner of a reservation. `legacy` is a file from before interfaces were recorded; `nobody` is one that no release
 * ever matches: empty, truncated or garbage. `unknown` is one that could not be read, and may have any owner.
 */
export type Owner =
  | ({ readonly kind: "attachment" } & Attachment)
  | { readonly kind: "legacy"; readonly containerId: ContainerId }
  | { readonly kind: "nobody" }
  | { readonly kind: "unknown"; readonly reason: string; readonly code: string };

/** How well a file's content names an attachment. */
export type Match = "exact" | "legacy" | "none";

/** The content of a reservation: container id, CR LF, interface name, and nothing after it. */
export function formatOwner({ containerId, interfaceName }: Attachment): string {
  return `${containerId}\r\n${interfaceName}`;
}

/** The content of a file that names a container, without surrounding white space; `undefined` where there is none. */
export function ownerText(owner: Owner): string | undefined {
  if (owner.kind === "attachment") return formatOwner(owner);
  return owner.kind === "legacy" ? owner.containerId : undefined;
}

/** Reads a reservation's content, as the reference does, without the white space around it. */
export function parseOwner(content: string): Owner {
  const [containerId, interfaceName, ...rest] = trimSpace(content).split("\r\n");
  if (containerId === undefined || !isContainerId(containerId) || rest.length > 0) {
    return { kind: "nobody" };
  }
  if (interfaceName === undefined) return { kind: "legacy", containerId };
  if (!isInterfaceName(interfaceName)) return { kind: "nobody" };
  return { kind: "attachment", containerId, interfaceName };
}

/** The owner of a file that could not be read: nobody where that shows that it is no reservation, else unknown. */
export function ownerOfUnreadable({ code, message }: SystemError): Owner {
  return NO_RESERVATION.includes(code)
    ? { kind: "nobody" }
    : { kind: "unknown", reason: message, code };
}

/** The errors of what is gone, not a regular file, or far too large. */
const NO_RESERVATION = ["ENOENT", "EISDIR", "ELOOP", "ENXIO", "EFBIG"];

/** Whether and how an owner is this attachment; a legacy file matches by its container id alone. */
export function matchOwner(owner: Owner, attachment: Attachment): Match {
  if (owner.kind === "nobody" || owner.kind === "unknown") return "none";
  if (owner.containerId !== attachment.containerId) return "none";
  if (owner.kind === "legacy") return "legacy";
  return owner.interfaceName === attachment.interfaceName ? "exact" : "none";
}

/** Whether two files name the same owner, or neither names any. */
export function isSameOwner(a: Owner, b: Owner): boolean {
  if (a.kind === "attachment") return matchOwner(b, a) === "exact";
  if (a.kind === "legacy") return b.kind === "legacy" && a.containerId === b.containerId;
  return a.kind === b.kind;
}

/** An owner in a sentence, such as `held by abc123 eth0`. */
export function describeOwner(owner: Owner): string {
  switch (owner.kind) {
    case "attachment":
      return `held by container ${owner.containerId}, interface ${owner.interfaceName}`;
    case "legacy":
      return `held by container ${owner.containerId}`;
    case "nobody":
      return "taken by a file that names no container";
    case "unknown":
      return `taken by a file that cannot be read (${owner.reason})`;
  }
}
