/** publish.ts: what is published is the file that was tested. */

import { test } from "tap";
import type { Context } from "../../../src/cli/command/command.ts";
import { installationIn } from "../../../src/operator/install/installation.ts";
import { publish, testedFormer } from "../../../src/operator/install/publish.ts";
import type { OperatorSystem } from "../../../src/system/operator-system.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

const installation = installationIn("/opt/cni/bin");
const { directory, target, previous } = installation;

/** A directory with a former plugin, during whose test something happens. */
function nodeWhere(happens: (system: OperatorSystem) => void) {
  const memory = new MemoryMachine().start();
  const system: OperatorSystem = Object.assign(memory, {
    run: () => {
      happens(system);
      return { exitCode: 0, stdout: '{"supportedVersions":["1.0.0"]}', stderr: "" };
    },
  }) as unknown as OperatorSystem;
  system.makeDirectories(directory);
  system.createFile(previous, "former", 0o755);
  const context = { system, has: () => false } as unknown as Context;
  return { system, context };
}

test("the very file that was tested gets the name of the plugin", async (t) => {
  const { system, context } = nodeWhere(() => {});
  const { inode } = system.status(previous);

  publish(system, testedFormer(context, installation, [previous]), installation);

  t.equal(system.status(target).inode, inode);
});

for (const [what, happens] of [
  [
    "replaced",
    (system: OperatorSystem) => {
      system.createFile(`${directory}/other`, "former", 0o755);
      system.rename(`${directory}/other`, previous);
    },
  ],
  [
    "overwritten in place",
    (system: OperatorSystem) => system.overwriteFile(previous, "half of ano"),
  ],
] as const) {
  test(`one that is ${what} during the test is not published`, async (t) => {
    const { system, context } = nodeWhere(happens);
    const tested = testedFormer(context, installation, [previous]);

    t.throws(() => publish(system, tested, installation), /was replaced meanwhile, and is left/);

    t.throws(() => system.status(target), { code: "ENOENT" });
  });
}
