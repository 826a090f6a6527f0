// test: native executable, full extent only
/** The memory that the manifest allows is enough for the commands that read all reservations. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { parse } from "yaml";
import { executable } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";
import { nodeFor } from "../operator/node.ts";

/** The number of reservations in the promise of docs/kubernetes-install.md. */
const RESERVATIONS = 65_000;

const { spec } = parse(readFileSync(inRepository("deploy/base/daemonset.yaml"), "utf8")).spec
  .template as {
  readonly spec: {
    readonly containers: readonly { readonly resources: { readonly limits: { memory: string } } }[];
  };
};

/** The limit of the agent's container, in bytes. */
function memoryLimit(): number {
  const [, mebibytes] = /^(\d+)Mi$/.exec(spec.containers[0]?.resources.limits.memory ?? "") ?? [];
  if (mebibytes === undefined) throw new Error("expected a memory limit in Mi");
  return Number(mebibytes) * 1024 * 1024;
}

test("its memory is enough for 65 000 reservations and as many results, all of dead containers", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "2001:db8::/64" });
  mkdirSync(join(node.dataDir, "net"));
  for (let at = 2; at < RESERVATIONS + 2; at++) {
    const address = `2001:db8::${at.toString(16)}`;
    writeFileSync(join(node.dataDir, "net", address), `c${at}\r\neth0`);
    node.remember("net", `c${at}`, `default/p${at}`, { addresses: [`${address}/64`] });
  }
  for (const [command = "", ...words] of [
    ["metrics"],
    ["gc", "--live-command", "echo none", "--force"],
  ]) {
    // The limit is stricter than the container's: address space is more than resident memory.
    const limit = [`--as=${memoryLimit()}`, executable, ...node.line([command, ...words])];
    const { status, stderr } = spawnSync("prlimit", limit, {
      encoding: "utf8",
      maxBuffer: 2 ** 30,
    });
    t.strictSame([status, stderr], [0, ""], command);
  }
});
