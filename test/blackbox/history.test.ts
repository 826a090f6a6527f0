// test: each executable, slow
/** With `"history": true` each ADD, DEL and GC tells whose address it was. */

import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { readError } from "../harness/printed-error.ts";
import type { Json } from "../harness/runtime-call.ts";
import { grantedAddresses, type Network, networkFor } from "./network.ts";

const ipam = {
  history: true,
  ranges: [[{ subnet: "10.47.0.0/24" }], [{ subnet: "2001:db8:47::/64" }]],
};

const cniArgs = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0";

function pathOf({ directory }: Network, file = "history"): string {
  return join(directory, ".host-local/net", file);
}

/** The lines without their times. */
function lines(network: Network, file?: string): readonly string[] {
  const path = pathOf(network, file);
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/^\S+ /, ""));
}

/** The name of a process, as the kernel has it. */
function nameOf(id: number): string {
  return readFileSync(`/proc/${id}/comm`, "utf8").trimEnd();
}

test("each address has a line, with its pod and the caller's name", (t) => {
  const network = networkFor(t, ipam);
  const before = new Date().toISOString();
  network.add("c1", { cniArgs });
  network.add("c2");
  network.del("c1", { cniArgs });
  network.gc({ "cni.dev/valid-attachments": [] });
  const after = new Date().toISOString();

  const caller = `${nameOf(process.ppid)}/${nameOf(process.pid)}`;
  t.strictSame(lines(network), [
    `ADD 10.47.0.2 c1 eth0 default/web-0 ${caller}`,
    `ADD 2001:db8:47::2 c1 eth0 default/web-0 ${caller}`,
    `ADD 10.47.0.3 c2 eth0 - ${caller}`,
    `ADD 2001:db8:47::3 c2 eth0 - ${caller}`,
    `DEL 10.47.0.2 c1 eth0 default/web-0 ${caller}`,
    `DEL 2001:db8:47::2 c1 eth0 default/web-0 ${caller}`,
    `GC 10.47.0.3 c2 eth0 - ${caller}`,
    `GC 2001:db8:47::3 c2 eth0 - ${caller}`,
  ]);
  const times = readFileSync(pathOf(network), "utf8").match(/^\S+/gm) ?? [];
  t.strictSame([before, ...times, after].toSorted(), [before, ...times, after]);
  t.equal(statSync(pathOf(network)).mode & 0o777, 0o600);
  t.end();
});

test("without the key, or with false, nothing is kept", (t) => {
  for (const history of [null, false]) {
    const network = networkFor(t, { ...ipam, history });
    network.add("c1");
    network.del("c1");
    t.equal(existsSync(pathOf(network)), false);
  }
  t.end();
});

test("a pod's name is one word of printable characters, however it is called", (t) => {
  const network = networkFor(t, ipam);
  const forged = "a b\n2026-01-31T12:00:00.000Z DEL 10.47.0.2 c1 eth0 x y";
  for (const [at, name] of [forged, "\u001b[2J\u202e", "é".repeat(1000), "-", " "].entries()) {
    const { exitCode } = network.add(`c${at}`, { cniArgs: `IgnoreUnknown=1;K8S_POD_NAME=${name}` });
    t.equal(exitCode, 0);
  }
  const text = readFileSync(pathOf(network), "utf8");
  t.match(text, /^[\n -~]+$/);
  t.equal(text.trimEnd().split("\n").length, 10);
  for (const line of lines(network)) t.match(line, /^ADD [0-9a-f.:]+ c\d eth0 \S{1,317} \S.*$/);
  t.end();
});

test("calls at the same time turn it over once it is full, and each line is whole", async (t) => {
  const network = networkFor(t, { ...ipam, history: { maxBytes: 4096 } });
  const ids = Array.from({ length: 24 }, (_, at) => `container-${at}`);
  const answers = await Promise.all(
    ids.map(async (id) => {
      const added = await network.begin("ADD", id, { cniArgs });
      await network.begin("DEL", id, { cniArgs });
      return grantedAddresses(added);
    }),
  );

  t.ok(answers.every(({ length }) => length === 2));
  const kept = [...lines(network, "history.1"), ...lines(network)];
  for (const line of kept) {
    t.match(line, /^(?:ADD|DEL) [0-9a-f.:]+ container-\d+ eth0 default\/web-0 \S.*$/);
  }
  t.ok(statSync(pathOf(network)).size <= 4096);
  t.ok(statSync(pathOf(network, "history.1")).size <= 4096);
  t.ok(kept.length > 30, `${kept.length} of ${4 * ids.length} lines are left`);
  t.equal(new Set(kept).size, kept.length, "none is there twice");
});

test("where the history cannot be kept, the call succeeds and says so in one line", (t) => {
  for (const obstruct of [
    (path: string) => symlinkSync("/nonexistent/target", path),
    (path: string) => mkdirSync(path),
  ]) {
    const network = networkFor(t, ipam);
    network.add("c0", { ipam: { history: false } });
    obstruct(pathOf(network));

    const { exitCode, stderr, stdout } = network.add("c1");

    t.equal(exitCode, 0);
    t.equal(JSON.parse(stdout).ips.length, 2);
    t.match(stderr, /^host-local: this call is missing in the history: open \S+: .+\n$/);
    t.equal(network.del("c1").exitCode, 0);
    t.same(network.reserved(), ["10.47.0.2", "2001:db8:47::2"]);
  }
  t.end();
});

const invalid: readonly Json[] = [
  ...["yes", "", 1, 0, [], [true]],
  ...[{ maxBytes: 4095 }, { maxBytes: 1e9 }, { maxBytes: "4096" }, { maxBytes: 5000.5 }],
];

for (const history of invalid) {
  test(`history ${JSON.stringify(history)} is an error that names the key, and DEL works`, (t) => {
    const network = networkFor(t, { ...ipam, history });

    const error = readError(network.add("c1").stdout);

    t.equal(error?.code, 999);
    t.match(`${error?.msg} ${error?.details}`, "ipam.history");
    t.same(network.tree(), []);
    t.equal(network.del("c1").exitCode, 0);
    t.equal(readError(network.status().stdout)?.code, 50);
    t.end();
  });
}
