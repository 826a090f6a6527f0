/** The findings of `check`: their codes, severities and remedies. */

import type { NodeReservation } from "../held/network-directory.ts";
import type { RemedyCommand } from "./remedy-command.ts";

/** An error affects pods now, a warning will, an info does not. */
export type Severity = "error" | "warning" | "info";

interface Kind {
  readonly severity: Severity;
  /** What to do, in a sentence or two, the last without a full stop; the finding has the commands. */
  readonly remedy: string;
}

/** All codes. They are an interface: scripts and alerts use them, so none is renamed. */
export const kinds = {
  "calls-fail": {
    severity: "error",
    remedy:
      "do what the message says; the page 'Troubleshooting and operation' of the documentation has these messages, and host-local history --failed all calls that failed. Nothing is said here once an ADD has succeeded",
  },
  "addresses-given-back": {
    severity: "warning",
    remedy:
      "see the runtime's log (journalctl -u containerd, or -u crio) for the error of the plugin that ran after the IPAM plugin; nothing is said here once a pod has kept its address",
  },
  "unreadable-configuration": {
    severity: "error",
    remedy:
      "correct what the message names. If no pod uses its network, you can move the file out of its directory instead. If it sorts first there, drain the node before: the next file then becomes the node's network",
  },
  "shadowed-configuration": {
    severity: "warning",
    remedy:
      "move the file that is not meant out of its directory: the one in use only on a drained node",
  },
  "unread-key": {
    severity: "info",
    remedy:
      "correct the key, or remove it: as it is, it has no effect; a corrected one counts from the next ADD on",
  },
  "unreadable-reservation": {
    severity: "error",
    remedy: "check the disk (dmesg); a DEL that may concern the file fails until it can be read",
  },
  "address-in-use-twice": {
    severity: "error",
    remedy: "restart the pod without a reservation, which then gets another address",
  },
  "live-without-reservation": {
    severity: "error",
    remedy:
      "reserve the address again, if no other container has got it (the command fails then); otherwise restart the pod",
  },
  "bridge-address": {
    severity: "error",
    remedy:
      "correct the configuration; if it is right, remove the old address, which is the gateway of no pod: the next ADD sets the right one",
  },
  "bridge-without-address": {
    severity: "error",
    remedy: "give the bridge the address back; if the configuration is wrong, correct that first",
  },
  "pods-cut-off": {
    severity: "error",
    remedy: "restart these pods: a new one is connected as the configuration says",
  },
  "broadcast-address": {
    severity: "warning",
    remedy: "leave rangeEnd out, or exclude the address (ipam.exclude)",
  },
  "node-address": {
    severity: "error",
    remedy: "exclude it (ipam.exclude)",
  },
  "node-network": {
    severity: "warning",
    remedy:
      "give the network a subnet that no other network of the node has: packets for an address go to one of them alone. If that is the network's former bridge, restart the pods at it, and remove it once nothing is at it",
  },
  "leaked-reservation": {
    severity: "warning",
    remedy: "run gc, which lists them and prints the command that releases them",
  },
  "add-fails": {
    severity: "error",
    remedy:
      "correct what the message names: until then no pod of this network starts. If it is the disk, findmnt -T and dmesg tell why it is read-only, df -h and df -i whether it is full",
  },
  "add-unknown": {
    severity: "info",
    remedy: "run check as root of the node, outside of a container",
  },
  "range-full": {
    severity: "warning",
    remedy:
      "find addresses of dead containers; if all are of living containers, give the node more addresses, as the page 'Give a node more addresses' of the documentation says",
  },
  "range-nearly-full": {
    severity: "warning",
    remedy:
      "find addresses of dead containers; if all are of living containers, plan a larger range, or allow fewer pods after draining the node",
  },
  "plugin-replaced": {
    severity: "warning",
    remedy:
      "install it again, and keep the other installer from copying its own plugin; if that is intended, remove the file with .installed after the same name beside it",
  },
  "plugin-missing": {
    severity: "error",
    remedy:
      "put the plugin there, as whoever installs the network does (host-local: host-local install DIR), or correct its mode, or the type in the configuration: until then no pod of this network starts",
  },
  "empty-reservation": {
    severity: "warning",
    remedy: "remove it; ADD does so when the range is otherwise full",
  },
  "malformed-reservation": {
    severity: "warning",
    remedy:
      "remove the file once no pod uses the address; if it is there to block the address, use ipam.exclude instead",
  },
  "out-of-range": {
    severity: "warning",
    remedy:
      "if its container is dead, release the address; otherwise restart its pod, which then gets another one",
  },
  "duplicate-owner": {
    severity: "warning",
    remedy:
      "find out which address the container uses (ip address in its network namespace), and release the other one, with --force if the container is alive",
  },
  "writable-by-others": {
    severity: "warning",
    remedy: "remove the permission: reservations have mode 0600, their directories 0755",
  },
  "state-directory-unused": {
    severity: "warning",
    remedy:
      "remove it, and make it again: no pod needs what is in it, which may be forged; a history in it is lost",
  },
  "overlapping-ranges": {
    severity: "warning",
    remedy: "give the networks different ranges, or remove the unused configuration",
  },
  "no-networks": {
    severity: "info",
    remedy:
      "none before the node has a network; otherwise name its directories with --conf-dir and --data-dir",
  },
  "interfaces-unread": {
    severity: "info",
    remedy: "use the native executable, or look at the addresses of bridges with ip address",
  },
  "leaks-unknown": {
    severity: "info",
    remedy:
      "run gc with the runtime's list of containers (--live-command), which decides on all that a runtime may have",
  },
  "sandbox-without-process": {
    severity: "info",
    remedy:
      "none where its containers are to be started again. If the runtime does not list the sandbox any more, no DEL comes for it: remove its network namespace, or end what has that open, and the address is free. If the runtime does list it, as a rule its DEL fails: see failed (delete) in its log",
  },
  "unconfigured-network": {
    severity: "info",
    remedy:
      "if the runtime has none of its containers, release its reservations and remove the directory",
  },
} as const satisfies Readonly<Record<string, Kind>>;

/** The code of a finding. */
export type Code = keyof typeof kinds;

/** A finding of `check`. */
export interface Finding {
  readonly code: Code;
  /** The network that it concerns; empty if it concerns none. */
  readonly network: string;
  readonly path: string;
  /** The file of a reservation that it is on, which may have been released meanwhile. */
  readonly file?: NodeReservation;
  /** A sentence without a full stop. */
  readonly message: string;
  /** The severity in place of that of the code. */
  readonly severity?: Severity;
  /** The remedy in place of that of the code. */
  readonly remedy?: string;
  /** What goes with the remedy. */
  readonly commands?: readonly RemedyCommand[];
  /** Whether `--repair` removes the file. */
  readonly isRepairable?: boolean;
}

/** The key of what a finding is about, whatever its words. */
export function subjectOf({ code, network, path }: Finding): string {
  return [code, network, path].join("\n");
}

/** The most findings of one code on one network that are listed as JSON: 60 000 leaks would be 39 MB. */
export const MOST_LISTED = 1000;

/** The severity of a finding. */
export function severityOf({ code, severity }: Finding): Severity {
  return severity ?? kinds[code].severity;
}

/** The remedy for a finding. */
export function remedyOf({ code, remedy }: Finding): string {
  return remedy ?? kinds[code].remedy;
}

/** The findings in the order of their severity, errors first. */
export function bySeverity(findings: readonly Finding[]): readonly Finding[] {
  const found = Map.groupBy(findings, severityOf);
  return (["error", "warning", "info"] as const).flatMap((severity) => found.get(severity) ?? []);
}
