// test: own process
/** Replays all recordings of the Go plugin in memory, with the decided differences applied. */

import { test } from "tap";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { answersAsExpected } from "./answers.ts";
import { differences } from "./differences.ts";
import { readVectors } from "./vectors.ts";

const vectors = readVectors();

const changes = differences.flatMap(({ changed }) => changed);

Object.assign(globalThis, { BUILD_VERSION: "unknown" });

for (const vector of vectors) {
  test(vector.id, async (t) => {
    const machine = new MemoryMachine();
    for (const path of ["/etc/passwd", "/proc/self/ns/net"]) machine.disk.put(path, "");
    machine.put("/", "");
    answersAsExpected(t, machine, vector, changes);
  });
}

test("no recording got lost", async (t) => {
  const changed = new Set(changes.map(({ vector }) => vector)).size;
  t.comment(`${vectors.length} vectors hold, ${changed} of them with a decided difference`);
  t.equal(new Set(vectors.map(({ id }) => id)).size, 285);
});
