// test: own process
/** The model of the Go plugin gives the answers, and leaves the files, that were recorded of the Go plugin. */

import { test } from "tap";
import { readVectors, type Vector } from "../blackbox/vectors.ts";
import { byPath } from "../harness/data-directory.ts";
import { MemoryDisk } from "../harness/memory-disk.ts";
import { MemoryKernel } from "../harness/memory-kernel.ts";
import { DATA_DIRECTORY } from "../harness/memory-machine.ts";
import { grantedAddresses } from "../harness/network.ts";
import { goPlugin } from "./go-plugin.ts";
import { runAlone } from "./process.ts";

/**
 * Recordings of calls that work and request no address. Recordings with a directory in place of a file are left out: the model
 * walks into no directory.
 */
const vectors = readVectors().filter(
  ({ id, steps }) =>
    /^(?:alloc|del|gotest|rollback)\//.test(id) &&
    !/dup-in-subdir|anywhere|invalid-range|no-ranges|custom|unfulfilled/.test(id) &&
    steps.every(({ env }) => /^(?:ADD|DEL)$/.test(env.CNI_COMMAND ?? "")),
);

for (const vector of vectors) {
  test(vector.id, async (t) => {
    const disk = diskOf(vector);
    const kernel = new MemoryKernel();
    const machine = { disk, kernel, locks: new Map<string, number>(), boot: 1 };

    const ends = vector.steps.map(({ env, stdin }, at) => {
      const call = { environment: env, stdin: stdin.replaceAll("@D@", DATA_DIRECTORY) };
      const model = { name: vector.id, verb: "ADD", locks: "as Go", run: goPlugin } as const;
      return runAlone(machine, { ...call, ...model }, 100 + at, 0);
    });

    const answerOf = (end: { readonly exitCode: number; readonly stdout: string }): unknown => [
      end.exitCode,
      grantedAddresses({ ...end, stderr: "" }),
    ];
    t.same(
      ends.map(answerOf),
      vector.steps.map(({ expect }) => answerOf(expect)),
    );
    t.same(disk.tree(DATA_DIRECTORY), vector.tree.toSorted(byPath));
  });
}

test("there are recordings", async (t) => {
  t.ok(vectors.length >= 50, `${vectors.length}`);
});

function diskOf({ pre }: Vector): MemoryDisk {
  const disk = new MemoryDisk(() => 0n);
  disk.makeDirectories(DATA_DIRECTORY);
  for (const { path, content = "" } of pre) {
    if (path.endsWith("/")) disk.makeDirectories(`${DATA_DIRECTORY}/${path}`);
    else disk.put(`${DATA_DIRECTORY}/${path}`, content);
  }
  return disk;
}
