/** The executables that faults are injected into. */

import { executable, inRepository } from "../../blackbox/executable.ts";

/** An executable under faults. */
export interface Subject {
  readonly name: "native" | "portable" | "Go";
  readonly path: string;
  /** The newest specification version that it supports. */
  readonly cniVersion: string;
  /** The time-out of its calls for the lock, in seconds: longer than a killed holder's lock keeps others out. */
  readonly lockTimeout: number;
  /** Milliseconds until a stopped process has lost its lock to others, if it ever does. */
  readonly staleAfter: number;
}

const portable = inRepository("dist/host-local");
const native = inRepository("dist/native/host-local");

const cniVersion = "1.1.0";

/** The kernel releases the `flock(2)` of a dead process, and never that of a live one; a busy machine may need a second. */
export const flock = { lockTimeout: 5, staleAfter: 500 };

export const nativeSubject: Subject = { name: "native", path: native, cniVersion, ...flock };

export const portableSubject: Subject = {
  name: "portable",
  path: portable,
  cniVersion,
  // Its lock goes stale after two seconds, and may be dated one ahead.
  lockTimeout: 10,
  staleAfter: 4000,
};

/** The executable under test, as `HOST_LOCAL_BIN` says. */
export const tested: Subject =
  executable === portable ? portableSubject : { ...nativeSubject, path: executable };

/** Whether it knows GC and STATUS, which came with CNI 1.1.0. */
export function knowsStatus(subject: Subject): boolean {
  return subject.cniVersion === cniVersion;
}
