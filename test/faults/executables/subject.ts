/** The executables that faults are done to. */

import { existsSync } from "node:fs";
import { executable, inRepository } from "../../blackbox/executable.ts";
import { goPlugin } from "../../differential/go-plugin.ts";

/** An executable under faults. */
export interface Subject {
  readonly name: "native" | "portable" | "Go";
  readonly path: string;
  /** How long a killed holder's lock may keep others out, in whole seconds; none where there is no bound. */
  readonly patience: number;
}

const portable = inRepository("dist/host-local");
const native = inRepository("dist/native/host-local");

/** The kernel frees a dead process's `flock(2)`; a second is what a busy machine may need. */
const nativeSubject: Subject = { name: "native", path: native, patience: 5 };

/** Its lock goes stale after two seconds, and may be dated one ahead. */
const portableSubject: Subject = { name: "portable", path: portable, patience: 10 };

/** The executable under test, as `HOST_LOCAL_BIN` says. */
export const tested: Subject =
  executable === portable ? portableSubject : { ...nativeSubject, path: executable };

/** All that are here: both of ours, and the Go plugin where the machine has one. */
export const subjects: readonly Subject[] = [
  nativeSubject,
  portableSubject,
  ...(goPlugin === undefined ? [] : [{ name: "Go", path: goPlugin.path, patience: 5 } as const]),
].filter(({ path }) => existsSync(path));
