/** What `check` can find: a stable code for each, how bad it is, and what to do about it. */

export type Severity = "error" | "warning" | "info";

interface Kind {
  readonly severity: Severity;
  /** A sentence without a full stop. */
  readonly remedy: string;
}

/**
 * Every code. They are an interface: scripts and alerts name them, so none is renamed. An error concerns pods now, a
 * warning will, an info is only good to know and leaves the exit code at 0.
 */
export const kinds = {
  "unreadable-configuration": {
    severity: "error",
    remedy: "correct the file, or move it out of the directory of configurations",
  },
  "unreadable-reservation": {
    severity: "error",
    remedy: "look at the disk (dmesg); a DEL that may concern the file fails until it can be read",
  },
  "address-in-two-networks": {
    severity: "error",
    remedy: "give the networks different ranges, then restart one of the pods",
  },
  "bridge-address": {
    severity: "error",
    remedy:
      "if the configuration is right, remove the bridge (ip link delete NAME) and restart its pods",
  },
  "wrong-index": {
    severity: "warning",
    remedy: "host-local check --repair builds the index anew",
  },
  "empty-reservation": {
    severity: "warning",
    remedy: "host-local check --repair removes it; ADD does when the range is otherwise full",
  },
  "malformed-reservation": {
    severity: "warning",
    remedy:
      "if nobody wrote it to keep the address from being used (ipam.exclude does that), remove the file",
  },
  "odd-name": {
    severity: "warning",
    remedy:
      "stop its container; ADD does not see that the address is taken, for it looks for the canonical name",
  },
  "out-of-range": {
    severity: "warning",
    remedy: "nothing while its container lives; if it is dead, host-local release ADDRESS",
  },
  "reserved-gateway": {
    severity: "warning",
    remedy:
      "restart its container, which has the gateway's address; if it is dead, host-local release ADDRESS",
  },
  "duplicate-owner": {
    severity: "warning",
    remedy: "see which one the container has (host-local show ADDRESS) and release the other one",
  },
  "writable-by-others": {
    severity: "warning",
    remedy: "chmod go-w; reservations have mode 0600",
  },
  "foreign-user": {
    severity: "warning",
    remedy: "find out who wrote it; chown it to the user of the directory",
  },
  "malformed-cursor": {
    severity: "warning",
    remedy: "host-local check --repair removes it; the next ADD begins at the first address",
  },
  "cursor-outside-range": {
    severity: "warning",
    remedy: "host-local check --repair removes it; the next ADD begins at the first address",
  },
  "overlapping-ranges": {
    severity: "warning",
    remedy: "give the networks different ranges, or remove the configuration that is not used",
  },
  "bridge-unknown": {
    severity: "info",
    remedy: "install iproute2 for the program ip, so that the addresses of bridges can be compared",
  },
  "spare-cursor": {
    severity: "info",
    remedy: "nothing; it is from a range set that is no longer configured",
  },
  "stale-index": {
    severity: "info",
    remedy: "nothing; the next call that needs it reads all reservations once",
  },
  "leftover-file": {
    severity: "info",
    remedy: "nothing; a later ADD removes it, and so does host-local check --repair",
  },
  "leftover-gc-state": {
    severity: "info",
    remedy: "run host-local gc again, or remove it with host-local check --repair",
  },
  "leftover-directory": {
    severity: "info",
    remedy: "the network is gone; remove the directory, which is only a cache",
  },
  "foreign-file": {
    severity: "info",
    remedy: "move it elsewhere; the Go plugin reads every file below this directory",
  },
  "unconfigured-network": {
    severity: "info",
    remedy: "if the network is no longer used, free its reservations and remove the directory",
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type Code = keyof typeof kinds;

/** What can be set right without a doubt. */
export type Repair =
  | { readonly kind: "reservation"; readonly name: string }
  | { readonly kind: "cursor"; readonly index: number; readonly text: string }
  | { readonly kind: "leftover" | "gc-state" }
  | { readonly kind: "index" };

/** Something that was found. */
export interface Finding {
  readonly code: Code;
  /** Empty where it concerns no network. */
  readonly network: string;
  readonly path: string;
  /** A sentence without a full stop. */
  readonly message: string;
  readonly repair?: Repair;
}

/** How bad a finding is. */
export function severityOf({ code }: Finding): Severity {
  return kinds[code].severity;
}

/** What to do about it. */
export function remedyOf({ code }: Pick<Finding, "code">): string {
  return kinds[code].remedy;
}

const order: readonly Severity[] = ["error", "warning", "info"];

/** The worst first; within one severity in the order in which they were found. */
export function bySeverity(a: Finding, b: Finding): number {
  return order.indexOf(severityOf(a)) - order.indexOf(severityOf(b));
}
