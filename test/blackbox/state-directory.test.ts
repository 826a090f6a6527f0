// test: each executable, acts as others
/** A journal that another user may have forged frees no address: in a data directory of mode 1777 any user may be the first. */

import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";
import { lacking, NOBODY } from "../harness/needs.ts";

const ADDRESS = "198.51.100.2";

/** Writes a forged journal, by which all reservations are from before this boot. */
function forge({ machine }: ExecutableNetwork): void {
  const journal = join(machine.dataDirectory, ".host-local/net/journal");
  const { ino, mtimeNs } = statSync(join(machine.dataDirectory, "net", ADDRESS), { bigint: true });
  const [header = "", line = ""] = readFileSync(journal, "utf8").split("\n");
  const plain = line.split(" ").slice(0, 3).join(" ");
  const forged = `${plain} ${ino},${mtimeNs} ${"0".repeat(8)}-1111-2222-3333-${"4".repeat(12)}\n`;
  const words = header.trimEnd().split(" ");
  const seal = [...words.slice(0, -2), header.length + 1 + forged.length, words.at(-1)].join(" ");
  writeFileSync(journal, `${seal.padEnd(header.length)}\n${forged}`);
}

for (const [what, give, isUsed] of [
  ["the caller's alone", () => {}, true],
  ["another user's", (path: string) => chownSync(path, NOBODY, NOBODY), false],
  ["writable by all", (path: string) => chmodSync(path, 0o1777), false],
] as const) {
  const skip = what === "another user's" && lacking("acts as others");
  test(`a journal is believed where its directory is ${what}: ${isUsed}`, { skip }, async (t) => {
    const network = networkFor(t, { subnet: "198.51.100.0/30" });
    t.equal(network.add("c1").exitCode, 0);
    forge(network);
    give(join(network.machine.dataDirectory, ".host-local"));

    const { error, addresses } = network.add("c2");

    if (isUsed) t.same(addresses, [ADDRESS], "the forgery is one");
    else t.match(error?.msg, "no IP addresses available");
  });
}
