/** The executables that are here to compare: ours, and the Go plugin. */

import { existsSync } from "node:fs";
import { goPlugin } from "../../harness/go-plugin.ts";
import type { Context } from "./scenario.ts";
import { nativeSubject, portableSubject, type Subject } from "./subject.ts";

/** The Go plugin, where the machine has one. */
export const goSubject: Subject | undefined = goPlugin && {
  name: "Go",
  path: goPlugin.path,
  cniVersion: goPlugin.cniVersion,
};

/** All that are here: both of ours, and the Go plugin. */
export const subjects: readonly Subject[] = [
  nativeSubject,
  portableSubject,
  ...(goSubject === undefined ? [] : [goSubject]),
].filter(({ path }) => existsSync(path));

/** The executable under test, and the others that are here. */
export function mixture({ subject }: Pick<Context, "subject">): readonly Subject[] {
  return [subject, ...subjects.filter(({ name }) => name !== subject.name)];
}
