// test: each executable, one if short, slow
/** install: killed at any system call that changes the directory, it leaves plugins that work, and the way back. */

import { test } from "tap";
import {
  injectionObstacle,
  runInjected,
  type SystemCall,
  systemCallsOf,
} from "../../faults/executables/injection.ts";
import { executable, isNative } from "../../harness/executable.ts";
import { extent } from "../../harness/extent.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { sample } from "../../harness/sample.ts";
import { seed } from "../../harness/seed.ts";
import { directoryWith, type PluginDirectory } from "./plugin-directory.ts";

/** Calls that change a directory, or a file in it. */
const CHANGES = /^(?:write|link|symlink|rename|unlink|fsync|mkdir|rmdir)/;

/** Of how many points one is tried: the portable executable takes seconds to copy. */
const PART = isNative ? (extent === "short" ? 12 : 1) : 24;

/** What is killed, what was there before, and what there is after a second run. */
const killed: readonly (readonly [string, readonly string[], string, string])[] = [
  ["an installation in place of another plugin", [], "go - -", "this go M"],
  ["an installation where none was", [], "- - -", "this - M"],
  ["a repair over a newer plugin", ["--if-replaced"], "another-go go M", "this another-go M"],
  ["a repair where none was before", ["--if-replaced"], "go - M", "this go M"],
  ["a removal with a former plugin", ["--uninstall"], "this go M", "go - -"],
  ["a removal where none was before", ["--uninstall"], "this - M", "- - -"],
];

for (const [what, options, before, after] of killed) {
  test(`${what} that is killed leaves what works, and a second run ends it`, {
    skip: injectionObstacle() ?? false,
  }, async (t) => {
    const callIn = ({ path }: PluginDirectory) => ({
      environment: { ...runtimeEnvironment, NETCONFPATH: path },
      stdin: "",
      arguments: ["install", path, "--yes", ...options],
    });
    const undisturbed = directoryWith(t, before);
    const calls = await systemCallsOf(executable, callIn(undisturbed), undisturbed.path);
    t.equal(undisturbed.state, after);
    const points = changing(calls);
    t.ok(points.length > 1, `there are ${points.length} calls to be killed at`);
    const wholePlugins = [before, after].map((state) => state.split(" ")[0]);
    const [other] = before.split(" ").filter((word) => word.endsWith("go"));

    const { writes = [], changes = [] } = Object.groupBy(points, ({ name }) =>
      name === "write" ? "writes" : "changes",
    );
    // Where a name changes, few are left out.
    const tried = [...sample(writes, PART, seed), ...sample(changes, isNative ? 1 : PART, seed)];
    for (const point of tried) {
      const directory = directoryWith(t, before);
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

      const [target, previous] = directory.state.split(" ");
      t.ok(wholePlugins.includes(target), `${label}: it is the old one or the new one, whole`);
      if (other !== undefined) {
        t.ok([target, previous].includes(other), `${label}: the last other one is not lost`);
      }

      t.equal(directory.install("--yes", ...options)[0], 0, `${label}: it can be done again`);
      const words = directory.state.split(" ");
      t.equal(words.slice(0, 3).join(" "), after, `${label}: and ends what was begun`);
      const left = words.length - 3;
      t.ok(left <= 2, `${label}: and leaves two files at most, for ten minutes`);
    }
  });
}

/** Of the many writes of a copy, the first and the last. */
function changing(calls: readonly SystemCall[]): readonly SystemCall[] {
  return calls.filter((call, at) => {
    const isSame = (other: SystemCall | undefined): boolean =>
      other?.name === call.name && other.target === call.target;
    return CHANGES.test(call.name) && !(isSame(calls[at - 1]) && isSame(calls[at + 1]));
  });
}
