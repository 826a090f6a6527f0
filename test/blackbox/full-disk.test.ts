// test: each executable, mounts
/** A disk without a free block or inode: STATUS and the commands foretell the failure of ADD. */

import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { executable, run } from "../harness/executable.ts";
import { Mounts } from "../harness/mounts.ts";
import { lacking } from "../harness/needs.ts";
import { attachmentCall, networkCall } from "../harness/runtime-call.ts";
import { nodeFor } from "../operator/node.ts";

/** For each resource, a function that takes all that is left. */
const fillers: Readonly<Record<string, (directory: string) => void>> = {
  block: (directory) => {
    const { bfree, bsize } = statfsSync(directory);
    writeFileSync(join(directory, "filler", "1"), Buffer.alloc(bfree * bsize));
  },
  inode: (directory) => {
    for (let at = statfsSync(directory).ffree; at > 0; at--) {
      writeFileSync(join(directory, "filler", `${at}`), "");
    }
  },
};

for (const [what, fill] of Object.entries(fillers)) {
  test(`without ${what} left, STATUS, check and capacity say what ADD fails at`, {
    skip: lacking("mounts"),
  }, async (t) => {
    const mounts = await Mounts.open((end) => t.teardown(end));
    const disk = mounts.memory("disk", "size=128k,nr_inodes=60");
    const dataDir = join(disk, "data");
    mkdirSync(dataDir);
    const node = nodeFor(t);
    const ipam = { type: "host-local", dataDir, subnet: "198.51.100.0/29" };
    const document = { cniVersion: "1.1.0", name: "net", type: "ptp", ipam };
    node.configure("net.conf", document);
    const words = ["--data-dir", dataDir];
    const add = () => run(executable, attachmentCall("ADD", { containerId: "c1" }, document));
    const status = () => run(executable, networkCall("STATUS", document));
    t.equal(status().exitCode, 0);
    t.same(node.findings(words), []);

    mkdirSync(join(disk, "filler"));
    fill(disk);

    t.match(add(), { exitCode: 1, stdout: /no space left on device/ });
    t.match(status(), { exitCode: 1, stdout: /"code": 50,\s+"msg": "access .*: no space left on/ });
    t.match(node.findings(words), [
      { code: "add-fails", message: /^every ADD fails: access .*: no space left on device$/ },
    ]);
    t.match(node.tool(["capacity", ...words]), { exitCode: 1, stdout: /net: every ADD fails: / });

    rmSync(join(disk, "filler"), { recursive: true });
    t.equal(status().exitCode, 0);
    t.same(node.findings(words), []);
    t.equal(add().exitCode, 0);
  });
}
