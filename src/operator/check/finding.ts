/** The findings of `check`: their codes, severities and remedies. */

/** An error affects pods now, a warning will, an info does not. */
export type Severity = "error" | "warning" | "info";

interface Kind {
  readonly severity: Severity;
  /** A sentence without a full stop. */
  readonly remedy: string;
}

/** All codes. They are an interface: scripts and alerts use them, so none is renamed. */
export const kinds = {
  "unreadable-configuration": {
    severity: "error",
    remedy: "correct the file, or move it out of the configuration directory",
  },
  "unreadable-reservation": {
    severity: "error",
    remedy: "check the disk (dmesg); a DEL that may concern the file fails until it can be read",
  },
  "address-in-two-networks": {
    severity: "error",
    remedy: "give the networks different ranges, then restart one of the pods",
  },
  "bridge-address": {
    severity: "error",
    remedy:
      "if the configuration is correct, delete the bridge (ip link delete NAME) and restart its pods",
  },
  "wrong-index": {
    severity: "warning",
    remedy: "host-local check --repair rebuilds the index",
  },
  "empty-reservation": {
    severity: "warning",
    remedy: "host-local check --repair removes it; ADD does so when the range is otherwise full",
  },
  "malformed-reservation": {
    severity: "warning",
    remedy: "remove the file; if it is there to block the address, use ipam.exclude instead",
  },
  "odd-name": {
    severity: "warning",
    remedy:
      "stop its container; ADD looks for the canonical name, and may hand out the address again",
  },
  "out-of-range": {
    severity: "warning",
    remedy: "none while its container is alive; if it is dead, run host-local release ADDRESS",
  },
  "reserved-gateway": {
    severity: "warning",
    remedy:
      "restart its container, which has the gateway's address; if it is dead, run host-local release ADDRESS",
  },
  "duplicate-owner": {
    severity: "warning",
    remedy:
      "check which address the container uses, and release the other one: host-local release ADDRESS",
  },
  "writable-by-others": {
    severity: "warning",
    remedy: "chmod go-w; reservations have mode 0600",
  },
  "foreign-user": {
    severity: "warning",
    remedy: "find out who wrote it, and chown it to the owner of the directory",
  },
  "malformed-cursor": {
    severity: "warning",
    remedy: "host-local check --repair removes it; the next ADD starts at the first address",
  },
  "cursor-outside-range": {
    severity: "warning",
    remedy: "host-local check --repair removes it; the next ADD starts at the first address",
  },
  "overlapping-ranges": {
    severity: "warning",
    remedy: "give the networks different ranges, or remove the unused configuration",
  },
  "bridge-unknown": {
    severity: "info",
    remedy: "install iproute2, whose program ip lists the addresses of bridges",
  },
  "spare-cursor": {
    severity: "info",
    remedy: "none; it belongs to a range set that is no longer configured",
  },
  "stale-index": {
    severity: "info",
    remedy: "none; the next call that needs it reads all reservations once",
  },
  "leftover-file": {
    severity: "info",
    remedy: "none; a later ADD removes it, and so does host-local check --repair",
  },
  "leftover-gc-state": {
    severity: "info",
    remedy: "run host-local gc again, or remove it with host-local check --repair",
  },
  "leftover-directory": {
    severity: "info",
    remedy: "remove the directory, which is only a cache",
  },
  "foreign-file": {
    severity: "info",
    remedy: "move it elsewhere; the Go plugin reads every file below this directory",
  },
  "unconfigured-network": {
    severity: "info",
    remedy: "if the network is no longer used, release its reservations and remove the directory",
  },
} as const satisfies Readonly<Record<string, Kind>>;

/** The code of a finding. */
export type Code = keyof typeof kinds;

/** What `--repair` does about a finding. */
export type Repair =
  | { readonly kind: "reservation"; readonly name: string }
  | { readonly kind: "cursor"; readonly index: number; readonly text: string }
  | { readonly kind: "leftover" | "gc-state" }
  | { readonly kind: "index" };

/** A finding of `check`. */
export interface Finding {
  readonly code: Code;
  /** Empty if it concerns no network. */
  readonly network: string;
  readonly path: string;
  /** A sentence without a full stop. */
  readonly message: string;
  readonly repair?: Repair;
}

/** The severity of a finding. */
export function severityOf({ code }: Finding): Severity {
  return kinds[code].severity;
}

/** The remedy for a finding. */
export function remedyOf({ code }: Pick<Finding, "code">): string {
  return kinds[code].remedy;
}

const order: readonly Severity[] = ["error", "warning", "info"];

/** Compares findings by severity, errors first. */
export function bySeverity(a: Finding, b: Finding): number {
  return order.indexOf(severityOf(a)) - order.indexOf(severityOf(b));
}
