// test: each executable, mounts
/** Whatever an ADD fails for, `check` says it first, in the words that the runtime got, until an ADD succeeds. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable, type Outcome, run } from "../../harness/executable.ts";
import { holdLock } from "../../harness/held-lock.ts";
import { Mounts } from "../../harness/mounts.ts";
import { lacking } from "../../harness/needs.ts";
import { readError } from "../../harness/printed-error.ts";
import { attachmentCall, type JsonObject } from "../../harness/runtime-call.ts";
import { type Node, nodeFor } from "../node.ts";

/** A node whose network `net` is called as a runtime does. */
class CalledNode {
  readonly node: Node;
  readonly dataDir: string;
  #ipam: JsonObject;

  constructor(t: Test, dataDir?: string) {
    this.node = nodeFor(t);
    this.dataDir = dataDir ?? this.node.dataDir;
    this.#ipam = {};
    this.configure({});
  }

  /** Configures the network with these further keys of its `ipam`. */
  configure(more: JsonObject): void {
    const ipam = {
      type: "host-local",
      dataDir: this.dataDir,
      ranges: [[{ subnet: "198.51.100.0/29" }]],
    };
    this.#ipam = { ...ipam, ...more };
    this.node.configure("net.conf", this.#document);
  }

  get #document(): JsonObject {
    return { cniVersion: "1.0.0", name: "net", type: "ptp", ipam: this.#ipam };
  }

  call(verb: "ADD" | "DEL", containerId: string): Outcome {
    const { environment, ...call } = attachmentCall(verb, { containerId }, this.#document);
    return run(executable, { ...call, environment: { ...environment, ...this.node.runtime } });
  }

  findings() {
    return this.node.findings(["--data-dir", this.dataDir]);
  }

  condition(): Outcome {
    return this.node.tool(["check", "--node-problem-detector", "--data-dir", this.dataDir]);
  }
}

/** Makes ADDs fail. */
interface Cause {
  readonly what: string;
  /** What is in the message. */
  readonly says: RegExp;
  /** Where the data directory is, if not in that of the node. */
  readonly place?: (t: Test) => Promise<string>;
  /** @returns what mends it */
  readonly spoil: (t: Test, called: CalledNode) => Promise<() => unknown>;
  readonly skip?: string | false;
}

function lacksAttributes(): string | false {
  const directory = scratchDirectory({ teardown: () => {} });
  const path = join(directory, "file");
  writeFileSync(path, "");
  const isSet = spawnSync("chattr", ["+i", path]).status === 0;
  if (isSet) execFileSync("chattr", ["-i", path]);
  rmSync(directory, { recursive: true });
  return isSet ? false : "Nobody sets attributes here.";
}

const causes: readonly Cause[] = [
  {
    what: "a disk without a block left",
    says: /no space left on device/,
    skip: lacking("mounts"),
    place: async (t) => {
      const mounts = await Mounts.open((end) => t.teardown(end));
      const dataDir = join(mounts.memory("disk", "size=128k"), "data");
      mkdirSync(dataDir);
      return dataDir;
    },
    spoil: async (_, { dataDir }) => {
      const filler = join(dataDir, "..", "filler");
      const { bfree, bsize } = statfsSync(dataDir);
      writeFileSync(filler, Buffer.alloc(bfree * bsize));
      return () => rmSync(filler);
    },
  },
  {
    what: "a cursor that nobody may write",
    says: /last_reserved_ip\.0: operation not permitted/,
    skip: lacksAttributes(),
    spoil: async (t, { dataDir }) => {
      const cursor = join(dataDir, "net/last_reserved_ip.0");
      execFileSync("chattr", ["+i", cursor]);
      const mend = () => execFileSync("chattr", ["-i", cursor]);
      t.teardown(mend);
      return mend;
    },
  },
  {
    what: "a lock that another process holds",
    says: /is locked; gave up .*process \d+ \(flock\).*; it still holds it$/,
    spoil: async (t, called) => {
      called.configure({ lockTimeoutSeconds: 0.2 });
      return holdLock(t, called.dataDir);
    },
  },
  {
    what: "a malformed file of ranges",
    says: /invalid rangesFile .*ranges\.json/,
    spoil: async (_, called) => {
      const rangesFile = join(called.node.root, "ranges.json");
      writeFileSync(rangesFile, '{"ranges": [');
      called.configure({ rangesFile, ranges: [] });
      return () => writeFileSync(rangesFile, '{"net": [[{"subnet": "198.51.100.0/29"}]]}');
    },
  },
  {
    what: "a resolvConf that is not there",
    says: /open .*resolv\.conf: no such file/,
    spoil: async (_, called) => {
      const resolvConf = join(called.node.root, "resolv.conf");
      called.configure({ resolvConf });
      return () => writeFileSync(resolvConf, "nameserver 192.0.2.1\n");
    },
  },
];

for (const { what, says, skip = false, place, spoil } of causes) {
  test(`${what}: ADD fails, and check says so until it does not`, { skip }, async (t) => {
    const called = new CalledNode(t, await place?.(t));
    t.equal(called.call("ADD", "before").exitCode, 0);
    t.same(
      called.findings().filter(({ code }) => code === "calls-fail"),
      [],
    );

    const mend = await spoil(t, called);
    for (const id of ["c1", "c2"]) t.equal(called.call("ADD", id).exitCode, 1);
    const refused = readError(called.call("ADD", "c3").stdout);

    const [first, ...others] = called.findings();
    t.match(first, { code: "calls-fail", severity: "error", network: "net", message: says });
    t.match(first?.message, /^ADD fails since .*Z, 3 times, the last time \d+s ago: /);
    t.ok(first?.message.includes(refused?.msg ?? "an error"), "in the runtime's words");
    t.notOk(
      others.some(({ code }) => code.startsWith("add-")),
      "and once",
    );
    t.match(called.condition(), { exitCode: 1, stdout: /^\d errors?, \d warnings?: calls-fail/ });

    await mend();
    t.equal(called.call("ADD", "after").exitCode, 0);
    t.same(
      called.findings().filter(({ code }) => code === "calls-fail"),
      [],
    );
  });
}

test("a DEL that fails is said while its container has the address", async (t) => {
  const called = new CalledNode(t);
  t.equal(called.call("ADD", "c1").exitCode, 0);
  called.configure({ lockTimeoutSeconds: 0.2 });
  const release = await holdLock(t, called.dataDir);
  t.equal(called.call("DEL", "c1").exitCode, 1);
  await release();
  const [first] = called.findings();
  t.match(first, { code: "calls-fail", severity: "warning", message: /^the last DEL failed, / });
  t.match(first?.message, /no process is seen that holds it now$/);

  t.equal(called.call("DEL", "c1").exitCode, 0);
  t.same(
    called.findings().filter(({ code }) => code === "calls-fail"),
    [],
  );
});

test("a range that was full is no problem once an address is free, or its file corrected", async (t) => {
  const called = new CalledNode(t);
  const severities = () =>
    called.findings().flatMap(({ code, severity }) => (code === "calls-fail" ? severity : []));
  for (const id of ["c1", "c2", "c3", "c4", "c5"]) called.call("ADD", id);
  for (const id of ["c6", "c7"]) t.equal(called.call("ADD", id).exitCode, 1);
  t.same(severities(), ["error"]);
  called.call("DEL", "c1");
  t.same(severities(), ["info"]);

  called.configure({ routes: [{ dst: "anywhere" }] });
  for (const id of ["c8", "c9"]) t.equal(called.call("ADD", id).exitCode, 1);
  t.same(severities(), ["error"]);
  called.configure({});
  t.same(severities(), ["info"]);
});
