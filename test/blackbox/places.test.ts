// test: each executable
/** Files and directories of the configuration that only a real file system has, or refuses. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";

const five = { subnet: "10.0.0.0/29" };

/** Expects that a network's call is refused, and nothing made. */
function isRefused(
  t: Test,
  network: ExecutableNetwork,
  { error, stderr }: ReturnType<ExecutableNetwork["add"]>,
  message: RegExp,
): void {
  t.match(error, { code: 999, msg: message });
  t.equal(stderr, "");
  t.same(network.reserved(), []);
}

for (const [what, ipam, message] of [
  [
    "dataDir below a file",
    { dataDir: "@/resolv.conf" },
    /^mkdir \S+\/resolv\.conf: not a directory$/,
  ],
  ["dataDir with NUL", { dataDir: "@/a\0b" }, /^mkdir .*: invalid argument$/],
  [
    "dataDir whose name is too long",
    { dataDir: `@/${"d".repeat(300)}` },
    /^mkdir .*: file name too long$/,
  ],
  [
    "dataDir in which the kernel lets nobody make anything",
    { dataDir: "/proc/none" },
    /^mkdir \/proc\/none: no such file or directory$/,
  ],
  [
    "resolvConf that does not exist",
    { resolvConf: "@/none" },
    /^open \S+\/none: no such file or directory$/,
  ],
  ["resolvConf that is a directory", { resolvConf: "@" }, /^read \S+: is a directory$/],
  ["resolvConf with NUL", { resolvConf: "/etc\0" }, /^open \/etc.*: invalid argument$/],
  [
    "rangesFile that is a FIFO without a writer",
    { rangesFile: "FIFO" },
    /line 1, column 1: unexpected end/,
  ],
  ["rangesFile that never ends", { rangesFile: "/dev/zero" }, /^cannot read rangesFile: /],
  [
    "partition by a FIFO without a writer",
    { partition: { subnetFile: "FIFO", ranges: [[five]] } },
    /^no podCIDR of this node in \S+fifo$/,
  ],
  [
    "partition by a file that never ends",
    { partition: { subnetFile: "/dev/zero", ranges: [[five]] } },
    /^cannot read the podCIDR of this node: /,
  ],
] as const) {
  test(`ADD refuses a ${what}`, async (t) => {
    const network = networkFor(t, "rangesFile" in ipam || "partition" in ipam ? {} : five, [
      { path: "resolv.conf" },
    ]);
    const { dataDirectory } = network.machine;
    const fifo = join(scratchDirectory(t), "fifo");
    execFileSync("mkfifo", [fifo]);
    const text = JSON.stringify(ipam).replace("@", dataDirectory).replace("FIFO", fifo);

    const answer = network.add("c1", { ipam: JSON.parse(text) });

    isRefused(t, network, answer, message);
  });
}

for (const command of ["CHECK", "DEL"] as const) {
  test(`${command} refuses a dataDir that is a file`, async (t) => {
    const network = networkFor(t, five, [{ path: "file" }]);
    const dataDir = `${network.machine.dataDirectory}/file`;

    const answer = network.call(command, "c1", { ipam: { dataDir } });

    isRefused(t, network, answer, /^mkdir \S+\/file: not a directory$/);
  });
}

test("ADD refuses a network name that is too long for a directory", async (t) => {
  const network = networkFor(t, five);
  const answer = network.add("c1", { top: { name: "n".repeat(300) } });
  isRefused(t, network, answer, /^mkdir .*: file name too long$/);
});
