/** Command lines that can be run as printed; how a word is quoted: test/cli/output/shell-word.test.ts. */

import { test } from "tap";
import type { NetworkName } from "../../src/cni/call.ts";
import { commandText } from "../../src/operator/next-command.ts";
import { openNetwork } from "../../src/store/files/network-files.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";

interface Given {
  readonly options?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
}

function textFor(words: readonly [string, ...string[]], given: Given): string {
  const { options = {}, environment = {}, dataDir = "/var/lib/cni/networks" } = given;
  const system = new MemoryMachine().start({ environment });
  const files = openNetwork(system, dataDir, "net" as NetworkName);
  return commandText({ system, option: (name) => options[name] }, files, words);
}

const cases: Readonly<Record<string, readonly [Given, string]>> = {
  "in another data directory": [{ dataDir: "/srv/networks" }, " --data-dir /srv/networks"],
  "with --data-dir, even if it is the usual one": [
    { options: { "--data-dir": "/var/lib/cni/networks" } },
    " --data-dir /var/lib/cni/networks",
  ],
  "with --conf-dir": [{ options: { "--conf-dir": "/srv/net.d" } }, " --conf-dir /srv/net.d"],
  "with $NETCONFPATH": [{ environment: { NETCONFPATH: "/srv/net.d" } }, " --conf-dir /srv/net.d"],
  "with --cache-dir": [{ options: { "--cache-dir": "/srv/cni" } }, " --cache-dir /srv/cni"],
  "in a directory whose name the shell would split": [
    { dataDir: "/srv/my networks" },
    " --data-dir '/srv/my networks'",
  ],
};

for (const [name, [given, options]] of Object.entries(cases)) {
  test(`a command for a network ${name}`, async (t) => {
    t.equal(textFor(["gc", "net"], given), `host-local gc net${options}`);
  });
}
