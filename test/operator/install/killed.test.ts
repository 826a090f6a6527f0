// test: each executable, one if short, slow
/** install: killed at any system call that changes the directory, it leaves plugins that work, and the way back. */

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
import {
  answering,
  emptyDirectory,
  isExecutable,
  type PluginDirectory,
} from "./plugin-directory.ts";

type Name = "host-local" | "static";

/** The plugins that are there first, and those that another installer puts in place of this program. */
const former = { "host-local": answering("0.3.1"), static: answering("0.4.0") };
const newer = { "host-local": answering("1.0.0"), static: answering("1.1.0") };

/** Calls that change a directory, or a file in it. */
const CHANGES = /^(?:write|link|symlink|rename|unlink|fsync|mkdir|rmdir)/;

/** One of how many points is tried. The portable executable takes seconds to copy. */
const PART = isNative ? (extent === "short" ? 12 : 1) : 24;

/** What is killed, and what was done before. */
const killed: Readonly<Record<string, readonly string[]>> = {
  "an installation": ["--yes"],
  "an installation with static": ["--static"],
  "a repair": ["--static", "overwritten", "--if-replaced"],
  "a rollback": ["--static", "--rollback"],
  "a second rollback": ["--static", "--rollback", "--rollback"],
  "a removal": ["--static", "--uninstall"],
};

for (const names of [["host-local"], ["host-local", "static"]] satisfies Name[][]) {
  for (const [what, words] of Object.entries(killed)) {
    test(`${what} in place of ${names.join(" and ")} that is killed leaves what works`, {
      skip: injectionObstacle() ?? false,
    }, async (t) => {
      const isRepair = words.includes("overwritten");
      const plugins = isRepair ? [former, newer] : [former];
      const fresh = (): PluginDirectory => directoryAfter(t, names, words.slice(0, -1));
      const callIn = ({ path }: PluginDirectory) => ({
        environment: runtimeEnvironment,
        stdin: "",
        arguments: ["install", path, "--yes", ...words.slice(-1)],
      });
      const first = fresh();
      const points = changing(await systemCallsOf(executable, callIn(first), first.path));
      t.ok(points.length > 3, `there are ${points.length} calls to be killed at`);

      for (const point of sample(points, PART, seed)) {
        const directory = fresh();
        const call = callIn(directory);
        const { isHit } = await runInjected(
          executable,
          call,
          directory.path,
          point,
          "signal=KILL",
          1,
        );
        const label = `${point.name} ${point.occurrence} of ${point.target}`;
        // Threads and children of the process write, too, in no fixed order.
        if (point.name !== "write") t.ok(isHit, `${label} was struck`);

        for (const name of names) {
          const path = join(directory.path, name);
          const others = plugins.map((plugin) => plugin[name]);
          const isWhole = isExecutable(path) || others.includes(contentOf(path));
          t.ok(isWhole, `${label}: ${name} is another one or this one, whole`);
          t.equal(run(path, versionCall()).exitCode, 0, `${label}: and answers`);
          const kept = [path, `${path}.previous`, `${path}.older`].map(contentOf);
          t.same(
            others.filter((one) => !kept.includes(one)),
            [],
            `${label}: none is lost`,
          );
        }
        if (!names.includes("static")) {
          const path = join(directory.path, "static");
          const isOwn = isExecutable(path) || ["", newer.static].includes(contentOf(path));
          t.ok(isOwn, `${label}: static is this one, another static, or none`);
        }
        const before = contentOf(directory.target);
        if (before === former["host-local"] && !isRepair) {
          directory.install("--if-replaced", "--yes");
          t.equal(contentOf(directory.target), before, `${label}: nothing installs it again`);
        }
        t.equal(directory.install("--static", "--yes")[0], 0, `${label}: it can be done again`);
        t.ok(isExecutable(directory.target) && isExecutable(join(directory.path, "static")));
        t.equal(contentOf(directory.previous), plugins.at(-1)?.["host-local"]);
        const left = directory.names.filter((one) => one.startsWith("."));
        t.ok(left.length <= 3, `${label}: and leaves three files at most, for ten minutes`);
      }
    });
  }
}

function directoryAfter(
  t: Parameters<typeof emptyDirectory>[0],
  names: readonly Name[],
  words: readonly string[],
): PluginDirectory {
  const directory = emptyDirectory(t);
  for (const name of names) directory.put(name, former[name]);
  for (const word of words) {
    if (word === "overwritten") {
      for (const name of ["host-local", "static"] as const) {
        rmSync(join(directory.path, name));
        directory.put(name, newer[name]);
      }
    } else {
      directory.install("--yes", word);
    }
  }
  return directory;
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
