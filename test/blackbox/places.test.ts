// test: each executable
/** Paths of the configuration that only a real file system refuses, or on which an open would wait. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { networkFor } from "../harness/executable-network.ts";

const five = { subnet: "198.51.100.0/29" };

for (const [what, ipam, message] of [
  ["dataDir with NUL", { ...five, dataDir: "/a\0b" }, /^mkdir .*: invalid argument$/],
  ["resolvConf with NUL", { ...five, resolvConf: "/etc\0" }, /^open \/etc.*: invalid argument$/],
  [
    "dataDir in which the kernel lets nobody make anything",
    { ...five, dataDir: "/proc/none" },
    /^mkdir \/proc\/none: no such file or directory$/,
  ],
  [
    "rangesFile that is a FIFO without a writer",
    { rangesFile: "FIFO" },
    /line 1, column 1: unexpected end/,
  ],
  ["rangesFile that never ends", { rangesFile: "/dev/zero" }, /^cannot read rangesFile: /],
] as const) {
  test(`ADD refuses a ${what}`, async (t) => {
    const fifo = join(scratchDirectory(t), "fifo");
    execFileSync("mkfifo", [fifo]);
    const network = networkFor(t, JSON.parse(JSON.stringify(ipam).replace("FIFO", fifo)));

    const { error, stderr } = network.add("c1");

    t.match(error, { code: 999, msg: message });
    t.equal(stderr, "");
    t.same(network.reserved(), []);
  });
}
