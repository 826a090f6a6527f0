/** The executables that faults are injected into. */

import { executable } from "../../harness/executable.ts";
import { inRepository } from "../../harness/repository.ts";

/** An executable under faults. */
export interface Subject {
  readonly name: "native" | "portable" | "Go";
  readonly path: string;
  /** The newest specification version that it supports. */
  readonly cniVersion: string;
}

const portable = inRepository("dist/host-local");
const native = inRepository("dist/native/host-local");

const cniVersion = "1.1.0";

/** The time-out of calls for the lock, in seconds. */
export const LOCK_TIMEOUT = 5;

export const nativeSubject: Subject = { name: "native", path: native, cniVersion };

export const portableSubject: Subject = { name: "portable", path: portable, cniVersion };

/** The executable under test, as `HOST_LOCAL_BIN` says. */
export const tested: Subject =
  executable === portable ? portableSubject : { ...nativeSubject, path: executable };

/** Whether it knows GC and STATUS, which came with CNI 1.1.0. */
export function knowsStatus(subject: Subject): boolean {
  return subject.cniVersion === cniVersion;
}
