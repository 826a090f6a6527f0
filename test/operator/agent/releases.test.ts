// test: each executable, one if short
/** `agent`: a log of releases that is longer than anything the agent would read. */

import { test } from "tap";
import { isNative } from "../../harness/executable.ts";
import { extent } from "../../harness/extent.ts";
import { listOf } from "../gc/pods-on-node.ts";
import { nodeFor } from "../node.ts";
import { every, peakMemory, startAgent } from "./running-agent.ts";

test("releases are logged whatever their number, and need no memory", {
  skip: extent === "short" && "It takes seconds: only in full.",
}, async (t) => {
  const node = nodeFor(t);
  const place = [
    "--conf-dir",
    node.confDir,
    "--data-dir",
    node.dataDir,
    "--cache-dir",
    node.cacheDir,
  ];
  const count = 1200;
  const name = (index: number): string => `10.212.${index >> 8}.${index & 255}`;
  const dead = (index: number): string => `c${index}-${"x".repeat(4000)}`;
  node.network("large", { subnet: "10.212.0.0/16" });
  node.call("ADD", "large", "alive");
  for (let index = 256; index < 256 + count; index++) {
    node.write(`large/${name(index)}`, `${dead(index)}\r\neth0`, 60);
    // As many live ones: gc would refuse to release more than half.
    node.write(`large/${name(index + 2 * count)}`, "alive\r\neth0", 60);
  }
  const gc = ["gc", ...place, "--live-command", listOf("alive"), "--grace", "1s", "--yes", "--log"];

  const agent = startAgent(t, every("1s", ...gc));
  const last = `host-local: gc: released ${name(255 + count)} of large, held by ${dead(255 + count)}\n`;
  await agent.written("stderr", last);

  const { stderr } = agent.output();
  t.equal(stderr.match(/^host-local: gc: released 10\.212\.[\d.]+ of large, /gm)?.length, count);
  t.equal(stderr.split("\n").length - 1, count, "and nothing else");
  t.ok(stderr.length > 4 * 1024 * 1024, `${stderr.length} bytes`);
  if (isNative) t.ok(peakMemory(agent.process.pid ?? 0) < 8 * 1024, "in KiB");
});
