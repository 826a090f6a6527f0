// test: each executable, one if short, each architecture, slow
/** install: killed at any system call that changes the directory, it leaves two plugins that work. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import {
  injectionObstacle,
  runInjected,
  type SystemCall,
  systemCallsOf,
} from "../../faults/executables/injection.ts";
import { executable, run } from "../../harness/executable.ts";
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

const formerHostLocal = answering("0.3.1");
const formerStatic = answering("0.4.0");

/** Calls that change a directory, or a file in it. */
const CHANGES = /^(?:write|link|symlink|rename|unlink|fsync|mkdir|rmdir)/;

const installed = ["--static", "--yes"];

/** What was done before, and what is killed. */
const killed: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "an installation": [["--yes"]],
  "an installation with static": [["--static", "--yes"]],
  "a rollback": [installed, ["--rollback", "--yes"]],
  "a second rollback": [installed, ["--rollback", "--yes"], ["--rollback", "--yes"]],
  "a removal": [installed, ["--uninstall", "--yes"]],
};

for (const withStatic of [true, false]) {
  for (const [what, commands] of Object.entries(killed)) {
    const name = `${what} that is killed ${withStatic ? "" : "where there was no static "}leaves what works`;
    test(name, { skip: injectionObstacle() ?? false }, async (t) => {
      const last = commands.at(-1) ?? [];
      const fresh = (): PluginDirectory => {
        const directory = emptyDirectory(t);
        directory.put("host-local", formerHostLocal);
        if (withStatic) directory.put("static", formerStatic);
        for (const words of commands.slice(0, -1)) directory.install(...words);
        return directory;
      };
      const callIn = ({ path }: PluginDirectory) => ({
        environment: runtimeEnvironment,
        stdin: "",
        arguments: ["install", path, ...last],
      });
      const first = fresh();
      const points = changing(await systemCallsOf(executable, callIn(first), first.path));
      t.ok(points.length > 3, `there are ${points.length} calls to be killed at`);

      for (const point of sample(points, extent === "short" ? 5 : 1, seed)) {
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

        const whole = {
          "host-local": formerHostLocal,
          ...(withStatic ? { static: formerStatic } : {}),
        };
        for (const [plugin, former] of Object.entries(whole)) {
          const path = join(directory.path, plugin);
          t.ok(isWhole(path, former), `${label}: ${plugin} is the former one or this one, whole`);
          t.equal(run(path, versionCall()).exitCode, 0, `${label}: and answers`);
          const kept = [path, `${path}.previous`].map((one) => existsSync(one) && contentOf(one));
          t.ok(kept.includes(former), `${label}: the former one is not lost`);
        }
        if (!withStatic) {
          const path = join(directory.path, "static");
          t.ok(!existsSync(path) || isExecutable(path), `${label}: static is this one, or none`);
        }
        const before = contentOf(directory.target);
        if (before === formerHostLocal) {
          directory.install("--if-replaced", "--yes");
          t.equal(contentOf(directory.target), before, `${label}: nothing installs it again`);
        }
        t.equal(directory.install("--static", "--yes")[0], 0, `${label}: it can be done again`);
        t.ok(isExecutable(directory.target) && isExecutable(join(directory.path, "static")));
        t.equal(contentOf(directory.previous), formerHostLocal);
        const left = directory.names.filter((one) => one.startsWith("."));
        t.ok(left.length <= 1, `${label}: and leaves one file at most, for ten minutes`);
      }
    });
  }
}

/** Of the many writes of a copy, the first and the last. */
function changing(calls: readonly SystemCall[]): readonly SystemCall[] {
  return calls.filter((call, at) => {
    const isSame = (other: SystemCall | undefined): boolean =>
      other?.name === call.name && other.target === call.target;
    return CHANGES.test(call.name) && !(isSame(calls[at - 1]) && isSame(calls[at + 1]));
  });
}

function isWhole(path: string, former: string): boolean {
  return isExecutable(path) || contentOf(path) === former;
}

function contentOf(path: string): string {
  return readFileSync(path, "latin1");
}
