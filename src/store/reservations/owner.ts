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
  | NamedOwner
  | { readonly kind: "unowned" }
  | { readonly kind: "unknown"; readonly reason: string; readonly code: string };

/** An owner with a container. */
export type NamedOwner =
  | ({ readonly kind: "attachment" } & Attachment)
  | { readonly kind: "legacy"; readonly containerId: ContainerId };

/** The owner of what is reserved for an attachment. */
export function ownerOf({ containerId, interfaceName }: Attachment): NamedOwner & Attachment {
  return { kind: "attachment", containerId, interfaceName };
}

/** The owner of a file that names a container and no interface. */
export function legacyOwner(containerId: ContainerId): NamedOwner {
  return { kind: "legacy", containerId };
}

/**
 * What a reservation's file contains, byte for byte. The Go plugin compares the whole file: with one more line, neither
 * plugin's DEL would release the address.
 */
export type ReservationContent = string & { readonly proof: "reservation content" };

/**
 * The content of a file that names this owner, without surrounding white space; `undefined` where it names no container. Of an
 * attachment: container id, CR LF, interface name.
 */
export function contentOf(owner: Attachment | NamedOwner): ReservationContent;
export function contentOf(owner: Attachment | Owner): ReservationContent | undefined;
export function contentOf(owner: Attachment | Owner): ReservationContent | undefined {
  if ("interfaceName" in owner) {
    return `${owner.containerId}\r\n${owner.interfaceName}` as ReservationContent;
  }
  return owner.kind === "legacy" ? (`${owner.containerId}` as ReservationContent) : undefined;
}

/** Who holds a reservation, as files of our own have it, such as the journal's lines: `<container id> <interface>`. */
export type OwnerKey = string & { readonly proof: "owner key" };

/** The character in place of the interface, whose name never has it. */
export const NO_INTERFACE = "/";

/** The key of an owner, such as `c1 eth0`; `undefined` where it names no container. */
export function keyOf(owner: Attachment | NamedOwner): OwnerKey;
export function keyOf(owner: Attachment | Owner): OwnerKey | undefined;
export function keyOf(owner: Attachment | Owner): OwnerKey | undefined {
  if ("interfaceName" in owner) return keyIn(owner.containerId, owner.interfaceName);
  return owner.kind === "legacy" ? keyIn(owner.containerId, NO_INTERFACE) : undefined;
}

/** The key of which these are the words, as a file of our own has them. */
export function keyIn(containerId: string, interfaceName: string): OwnerKey {
  return `${containerId} ${interfaceName}` as OwnerKey;
}

/** The keys of what an attachment may hold: its own, and that of a legacy file of its container. */
export function keysOf(attachment: Attachment): readonly [exact: OwnerKey, legacy: OwnerKey] {
  return [keyOf(attachment), keyOf(legacyOwner(attachment.containerId))];
}

/** The container of an owner; empty where it names none. */
export function containerOf(owner: Attachment | Owner): string {
  return "containerId" in owner ? owner.containerId : "";
}

/** The interface of an owner; empty where it names none. */
export function interfaceOf(owner: Attachment | Owner): string {
  return "interfaceName" in owner ? owner.interfaceName : "";
}

/** A container id and an interface name; nearly all files are like this, and a directory may have 65 000. */
const USUAL = /^([a-zA-Z0-9][a-zA-Z0-9_.-]*)\r\n([a-z][a-z0-9]{0,14})$/;

/** Reads a reservation's content, as the Go plugin does, without the white space around it. */
export function parseOwner(content: string): Owner {
  const usual = USUAL.exec(content);
  if (usual !== null) {
    return ownerOf({
      containerId: usual[1] as ContainerId,
      interfaceName: usual[2] as InterfaceName,
    });
  }
  const text = trimSpace(content);
  const { 0: containerId, 1: interfaceName, length } = text.split("\r\n");
  if (containerId === undefined || !isContainerId(containerId) || length > 2) {
    return { kind: "unowned" };
  }
  if (interfaceName === undefined) return legacyOwner(containerId);
  if (!isInterfaceName(interfaceName)) return { kind: "unowned" };
  return ownerOf({ containerId, interfaceName });
}

/** The owner of a file that could not be read: nobody where that shows that it is not a reservation, else unknown. */
export function ownerOfUnreadable({ code, message }: SystemError): Owner {
  return NO_FILE.includes(code) ? { kind: "unowned" } : { kind: "unknown", reason: message, code };
}

/** Whether an owner is this attachment; a legacy file names the container alone. */
export function isHeldBy(owner: Owner, { containerId, interfaceName }: Attachment): boolean {
  if (containerOf(owner) !== containerId) return false;
  return owner.kind === "legacy" || interfaceOf(owner) === interfaceName;
}

/** Whether two files name the same owner, or neither names any. */
export function isSameOwner(a: Owner, b: Owner): boolean {
  if (a.kind === "attachment") return b.kind === "attachment" && isHeldBy(b, a);
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
