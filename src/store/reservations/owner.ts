/** The content of a reservation: its owner. */

import {
  type Attachment,
  type ContainerId,
  type InterfaceName,
  isContainerId,
  isInterfaceName,
} from "../../cni/attachment.ts";
import { trimSpace } from "../../cni/unicode.ts";
import { NO_FILE, type SystemError } from "../../system/system.ts";

/**
 * The owner of a reservation. `legacy` is a file from before interfaces were recorded; `unowned` is one that no release ever
 * matches: empty, truncated or garbage. `unknown` is one that could not be read, and may have any owner.
 */
export type Owner =
  | ({ readonly kind: "attachment" } & Attachment)
  | { readonly kind: "legacy"; readonly containerId: ContainerId }
  | { readonly kind: "unowned" }
  | { readonly kind: "unknown"; readonly reason: string; readonly code: string };

/** How well a file's content names an attachment. */
export type Match = "exact" | "legacy" | "none";

/**
 * What a reservation's file contains, byte for byte. The Go plugin compares the whole file: with one more line, neither
 * plugin's DEL would release the address.
 */
export type ReservationContent = string & { readonly proof: "reservation content" };

/** The content of an attachment's reservation: container id, CR LF, interface name, and nothing after it. */
export function formatOwner({ containerId, interfaceName }: Attachment): ReservationContent {
  return `${containerId}\r\n${interfaceName}` as ReservationContent;
}

/** The content of a file that names a container, without surrounding white space; `undefined` for any other. */
export function contentOf(owner: Owner): ReservationContent | undefined {
  if (owner.kind === "attachment") return formatOwner(owner);
  return owner.kind === "legacy" ? (owner.containerId as string as ReservationContent) : undefined;
}

/** Who holds a reservation, for comparisons in memory and in files of our own, such as the journal's lines. */
export type OwnerKey = string & { readonly proof: "owner key" };

/** In place of the interface, which has no such character. */
const NO_INTERFACE = "/";

/** The key of an attachment, such as `c1 eth0`. */
export function keyOf({ containerId, interfaceName }: Attachment): OwnerKey {
  return `${containerId} ${interfaceName}` as OwnerKey;
}

/** The key of a file that names no interface. */
export function legacyKey(containerId: ContainerId): OwnerKey {
  return `${containerId} ${NO_INTERFACE}` as OwnerKey;
}

/** The key of an owner; `undefined` for a file that names no container. */
export function keyOfOwner(owner: Owner): OwnerKey | undefined {
  if (owner.kind === "attachment") return keyOf(owner);
  return owner.kind === "legacy" ? legacyKey(owner.containerId) : undefined;
}

/** A container id and an interface name; nearly all files are like this, and a directory may have 65 000. */
const USUAL = /^([a-zA-Z0-9][a-zA-Z0-9_.-]*)\r\n([a-z][a-z0-9]{0,14})$/;

/** Reads a reservation's content, as the Go plugin does, without the white space around it. */
export function parseOwner(content: string): Owner {
  const usual = USUAL.exec(content);
  if (usual !== null) {
    return {
      kind: "attachment",
      containerId: usual[1] as ContainerId,
      interfaceName: usual[2] as InterfaceName,
    };
  }
  const text = trimSpace(content);
  const { 0: containerId, 1: interfaceName, length } = text.split("\r\n");
  if (containerId === undefined || !isContainerId(containerId) || length > 2) {
    return { kind: "unowned" };
  }
  if (interfaceName === undefined) return { kind: "legacy", containerId };
  if (!isInterfaceName(interfaceName)) return { kind: "unowned" };
  return { kind: "attachment", containerId, interfaceName };
}

/** The owner of a file that could not be read: nobody where that shows that it is not a reservation, else unknown. */
export function ownerOfUnreadable({ code, message }: SystemError): Owner {
  return NO_FILE.includes(code) ? { kind: "unowned" } : { kind: "unknown", reason: message, code };
}

/** Whether and how an owner is this attachment; a legacy file matches by its container id alone. */
export function matchOwner(owner: Owner, attachment: Attachment): Match {
  if (owner.kind !== "attachment" && owner.kind !== "legacy") return "none";
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

/** Whether a file has no owner that is known: it names no container. */
export function isUnowned({ kind }: Owner): boolean {
  return kind === "unowned" || kind === "unknown";
}

/** An owner in a sentence, such as `held by abc123 eth0`. */
export function describeOwner(owner: Owner): string {
  switch (owner.kind) {
    case "attachment":
      return `held by container ${owner.containerId}, interface ${owner.interfaceName}`;
    case "legacy":
      return `held by container ${owner.containerId}`;
    case "unowned":
      return "taken by a file that names no container";
    case "unknown":
      return `taken by a file that cannot be read (${owner.reason})`;
  }
}
