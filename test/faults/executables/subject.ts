/** The executables that faults are injected into. */

import { existsSync } from "node:fs";
import { executable } from "../../harness/executable.ts";
import type { Extent } from "../../harness/extent.ts";
import { goPlugin } from "../../harness/go-plugin.ts";
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

/** The executable under test, named by `HOST_LOCAL_BIN`. */
export const tested: Subject =
  executable === portable ? portableSubject : { ...nativeSubject, path: executable };

/**
 * The executable that uses a network before and after a fault. In a short run it is the native one in place of the portable
 * one, which starts twenty times as slowly and makes the same files.
 */
export function bystander<C extends { readonly subject: Subject; readonly extent: Extent }>(
  context: C,
): C {
  const { subject, extent } = context;
  const isQuicker = extent === "short" && subject.name === "portable" && existsSync(native);
  return { ...context, subject: isQuicker ? nativeSubject : subject };
}

/** Whether a subject knows GC and STATUS, which came with CNI 1.1.0. */
export function knowsStatus(subject: Subject): boolean {
  return subject.cniVersion === cniVersion;
}

/** The Go plugin, where the machine has one. */
export const goSubject: Subject | undefined = goPlugin && {
  name: "Go",
  path: goPlugin.path,
  cniVersion: goPlugin.cniVersion,
};

/** The subjects on this machine: both of ours, and the Go plugin. */
export const subjects: readonly Subject[] = [
  nativeSubject,
  portableSubject,
  ...(goSubject === undefined ? [] : [goSubject]),
].filter(({ path }) => existsSync(path));

/** The executable under test, and the others on this machine. */
export function mixture({ subject }: { readonly subject: Subject }): readonly Subject[] {
  return [subject, ...subjects.filter(({ name }) => name !== subject.name)];
}
