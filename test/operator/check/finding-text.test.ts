/** What `check` prints of many findings, and how it is laid out at a terminal. */

import { test } from "tap";
import type { Finding } from "../../../src/operator/check/finding.ts";
import { formatFindings } from "../../../src/operator/check/finding-text.ts";
import { openNetwork } from "../../../src/store/files/network-files.ts";
import type { OperatorSystem } from "../../../src/system/operator-system.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { networkName } from "../../store/fixtures.ts";
import { contextOf, startOperator } from "../memory-node.ts";

const files = openNetwork(new MemoryMachine().start(), "/data", networkName("net"));
const gc = [{ files, words: ["gc", "net"] }] as const;

const full: Finding = {
  ...{ code: "range-full", severity: "error", network: "net", path: "/conf/net.conf" },
  ...{ message: "no address is left", remedy: "make it larger", commands: gc },
};

/** The printed text, on a terminal of so many columns where it is one. */
function textOf(findings: readonly Finding[], columns?: number): string {
  const { system } = startOperator(new MemoryMachine());
  const terminal = {
    isTerminal: () => columns !== undefined,
    terminalSize: () => (columns === undefined ? undefined : { columns, rows: 25 }),
  };
  const own: OperatorSystem = new Proxy(system, {
    get: (target, key) => Reflect.get(key in terminal ? terminal : target, key),
  });
  return formatFindings(contextOf(own), findings, findings);
}

test("of many findings of a kind twenty are shown, and an error beside them stays in sight", async (t) => {
  const others = Array.from({ length: 120 }, (_, at): Finding => {
    const [path, message] = [`/data/net/10.0.0.${at + 2}`, "the file names no container"];
    return { code: "malformed-reservation", network: "net", path, message };
  });
  const lines = textOf([full, ...others]).split("\n");
  t.match(lines[0], "error range-full net /conf/net.conf: no address is left");
  t.equal(lines.filter((line) => line.startsWith("warning ")).length, 20);
  t.ok(lines.includes("    (100 more; --json lists up to 1000 of each network)"));
  t.match(lines.at(-2), "1 error: range-full; 120 warnings: malformed-reservation (120)");
});

test("on a terminal lines are broken, but not those of commands", async (t) => {
  t.equal(
    textOf([{ ...full, message: "no address is left for the next pod" }], 40),
    `\u001b[31merror\u001b[0m range-full net /conf/net.conf:
    no address is left for the next pod
  What to do: make it larger
    host-local gc net --data-dir /data

1 error: range-full
`,
  );
});
