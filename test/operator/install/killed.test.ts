// test: each executable, one if short, slow
/** install: killed at any system call that changes the directory, it leaves plugins that work, and the way back. */

import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import {
  injectionObstacle,
  runInjected,
  type SystemCall,
  systemCallsOf,
} from "../../faults/executables/injection.ts";
import { executable, isNative, run } from "../../harness/executable.ts";
import { extent } from "../../harness/extent.ts";
import { runtimeEnvironment, versionCall } from "../../harness/runtime-call.ts";
import { sample } from "../../harness/sample.ts";
import { seed } from "../../harness/seed.ts";
import { tool } from "../../harness/tool.ts";
import {
  answering,
  emptyDirectory,
  isExecutable,
  type PluginDirectory,
} from "./plugin-directory.ts";

/** The plugin that is there first, and the one that another installer puts in place of this program. */
const former = answering("0.3.1");
const newer = answering("1.0.0");

/** Calls that change a directory, or a file in it. */
const CHANGES = /^(?:write|link|symlink|rename|unlink|fsync|mkdir|rmdir)/;

/** One of how many points is tried. The portable executable takes seconds to copy. */
const PART = isNative ? (extent === "short" ? 12 : 1) : 24;

/** What is killed, and what was done before. */
const killed: Readonly<Record<string, readonly string[]>> = {
  "an installation": ["--yes"],
  "a repair": ["--yes", "overwritten", "--if-replaced"],
  "a removal": ["--yes", "--uninstall"],
};

for (const isFormerThere of [true, false]) {
  for (const [what, words] of Object.entries(killed)) {
    const where = isFormerThere ? "in place of another plugin" : "where none was";
    test(`${what} ${where} that is killed leaves what works, and a second run ends it`, {
      skip: injectionObstacle() ?? false,
    }, async (t) => {
      const isOverwritten = words.includes("overwritten");
      // What may be in place, and what has to be somewhere.
      const others = [...(isFormerThere ? [former] : []), ...(isOverwritten ? [newer] : [])];
      const fresh = (): PluginDirectory => directoryAfter(t, isFormerThere, words.slice(0, -1));
      const callIn = ({ path }: PluginDirectory) => ({
        environment: { ...runtimeEnvironment, NETCONFPATH: path },
        stdin: "",
        arguments: ["install", path, "--yes", ...words.slice(-1).filter((one) => one !== "--yes")],
      });
      const expected = fresh();
      const points = changing(await systemCallsOf(executable, callIn(expected), expected.path));
      t.ok(points.length > 1, `there are ${points.length} calls to be killed at`);

      const { writes = [], changes = [] } = Object.groupBy(points, ({ name }) =>
        name === "write" ? "writes" : "changes",
      );
      // Where a name changes, few are left out.
      const tried = [...sample(writes, PART, seed), ...sample(changes, isNative ? 1 : PART, seed)];
      for (const point of tried) {
        const directory = fresh();
        const { path, target, previous } = directory;
        const call = callIn(directory);
        const isThere = existsSync(target);
        const { isHit } = await runInjected(executable, call, path, point, "signal=KILL", 1);
        const label = `${point.name} ${point.occurrence} of ${point.target}`;
        // Threads and children of the process write, too, in no fixed order.
        if (point.name !== "write") t.ok(isHit, `${label} was struck`);

        const isWhole = isExecutable(target) || others.includes(contentOf(target));
        const isGone =
          !existsSync(target) && (!isThere || (what === "a removal" && !isFormerThere));
        t.ok(isWhole || isGone, `${label}: it is another one or this one, whole`);
        if (!isGone) t.equal(run(target, versionCall()).exitCode, 0, `${label}: and answers`);
        const last = others.at(-1) ?? "";
        t.ok(
          [target, previous].map(contentOf).includes(last),
          `${label}: the last one is not lost`,
        );

        const again = tool(call.arguments, { environment: call.environment });
        t.equal(again.exitCode, 0, `${label}: it can be done again`);
        t.equal(stateOf(directory), stateOf(expected), `${label}: and ends what was begun`);
        const left = directory.names.filter((one) => one.startsWith("."));
        t.ok(left.length <= 2, `${label}: and leaves two files at most, for ten minutes`);
      }
    });
  }
}

function directoryAfter(
  t: Parameters<typeof emptyDirectory>[0],
  isFormerThere: boolean,
  words: readonly string[],
): PluginDirectory {
  const directory = emptyDirectory(t);
  if (isFormerThere) directory.put("host-local", former);
  for (const word of words) {
    if (word === "overwritten") {
      rmSync(directory.target);
      directory.put("host-local", newer);
    } else {
      directory.install(word);
    }
  }
  return directory;
}

/** What the files have, but for those that are temporary. */
function stateOf({ path, names }: PluginDirectory): string {
  const files = names.filter((name) => !name.startsWith("."));
  return files.map((name) => `${name} ${checksumOf(join(path, name))}`).join("\n");
}

function checksumOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** Of the many writes of a copy, the first and the last. */
function changing(calls: readonly SystemCall[]): readonly SystemCall[] {
  return calls.filter((call, at) => {
    const isSame = (other: SystemCall | undefined): boolean =>
      other?.name === call.name && other.target === call.target;
    return CHANGES.test(call.name) && !(isSame(calls[at - 1]) && isSame(calls[at + 1]));
  });
}

/** Empty where there is no such file. */
function contentOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "latin1") : "";
}
