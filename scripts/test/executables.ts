/** The executables under test, built beside each other. */

import { spawn } from "node:child_process";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { isCurrentBuild } from "../../test/harness/build-age.ts";
import { root } from "../build/bundle.ts";
import { MISSING_TOOL } from "../build/native.ts";
import type { Tally } from "./tally.ts";

/** An executable under test. */
export interface Executable {
  readonly name: "portable" | "native";
  readonly path: string;
}

const portablePath = join(root, "dist", "host-local");
const nativePath = join(root, "dist", "native", "host-local");

/** Builds those that are older than the source, and returns those that there are; the native one, which starts faster, is the last. */
export async function buildBoth(tally: Tally): Promise<readonly Executable[]> {
  const [portable, native] = await Promise.all([
    build("portable", portablePath),
    build("native", nativePath),
  ]);
  if (portable.status !== 0)
    tally.fail(`The portable executable cannot be built. ${portable.output}`);
  if (native.status === MISSING_TOOL) {
    tally.skip(
      `The native executable is not tested, since it cannot be built here. ${native.output}`,
    );
  } else if (native.status !== 0) {
    tally.fail(`The native executable cannot be built. ${native.output}`);
  }
  return [
    ...(portable.status === 0 ? [{ name: "portable", path: portablePath } as const] : []),
    ...(native.status === 0 ? [{ name: "native", path: nativePath } as const] : []),
  ];
}

async function build(name: Executable["name"], path: string) {
  if (isCurrentBuild(path)) return { status: 0, output: "" };
  const began = new Date();
  const errors = join(root, "scripts", "errors.ts");
  const child = spawn(
    process.execPath,
    ["--import", errors, join(root, "scripts", "build", `${name}.ts`)],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const ended = new Promise<number | null>((settle, fail) => {
    child.on("error", fail);
    child.on("close", settle);
  });
  const [printed, problems, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ]);
  // What is written to the source from now on is newer, also during the build.
  if (status === 0) utimesSync(path, began, began);
  return { status, output: `${printed}${problems}`.trim() };
}
