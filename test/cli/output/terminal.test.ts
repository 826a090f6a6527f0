// test: each executable, one if short
/** What names from elsewhere may not do to a terminal. */

import { test } from "tap";
import { nodeFor } from "../../operator/node.ts";

for (const [name, odd] of [
  ["a colour", "\u001b[31m"],
  ["a C1 control character", "\u009b2J"],
  ["a change of the writing direction", "\u202e"],
  ["an isolate", "\u2066"],
  ["an invisible space", "\u200b"],
  ["a line separator", "\u2028"],
  ["a carriage return", "\r"],
  ["a line end", "\n"],
] as const) {
  test(`${name} in the name of a pod is shown as ?`, async (t) => {
    const node = nodeFor(t);
    node.write("net/198.18.0.2", "c1\r\neth0");
    node.remember("net", "c1", `default/a${odd}b`);

    const { stdout } = node.tool(["list", "--no-headers"]);

    const shown = odd.replace(/^./su, "?");
    t.ok(stdout.endsWith(` default/a${shown}b\n`), stdout);
    t.equal(stdout.split("\n").length, 2);
  });
}
