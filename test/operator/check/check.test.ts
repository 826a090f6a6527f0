// test: each executable, one if short, sees the node, makes namespaces, acts as others
/** `check` on real directories: the files of reservations, the output, and the exit codes. What it finds: the files beside this one. */

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { holdLock } from "../../harness/held-lock.ts";
import { lacking } from "../../harness/needs.ts";
import { mountNamespace } from "../../harness/network-namespaces.ts";
import { runAsPrinted } from "../../harness/tool.ts";
import { isRoot, withoutPrivileges } from "../../harness/unprivileged.ts";
import { belowRoot, type Node, nodeFor } from "../node.ts";

/** A node with the network `net` and one pod, without a program that would know its bridges. */
function nodeWithPod(t: Test): Node {
  const node = nodeFor(t);
  node.network("net", { subnet: "198.51.100.0/28" });
  node.call("ADD", "net", "c1");
  return node;
}

/** What is done to a node; returns the path of the finding. */
type Corruption = (node: Node) => string;

/** A file in the network's directory. */
function file(name: string, content: string): Corruption {
  return (node) => node.write(`net/${name}`, content, 60);
}

const cases: Readonly<Record<string, readonly [code: string, corrupt: Corruption]>> = {
  "an empty one": ["empty-reservation", file("198.51.100.9", "")],
  "one of NULs, as after a power loss": ["empty-reservation", file("198.51.100.9", "\0\0")],
  "one without a container": ["malformed-reservation", file("198.51.100.9", "for a printer")],
  "one with another name": ["malformed-reservation", file("::ffff:198.51.100.9", "c9\r\neth0")],
  "a directory in the place of a reservation": [
    "malformed-reservation",
    ({ dataDir }) => mkdirSync(join(dataDir, "net/198.51.100.9"), { recursive: true }) ?? "",
  ],
  "a reservation that anybody may write": [
    "writable-by-others",
    ({ dataDir }) => {
      const path = join(dataDir, "net/198.51.100.2");
      chmodSync(path, 0o666);
      return path;
    },
  ],
};

test("a healthy node has no findings", async (t) => {
  const node = nodeWithPod(t);

  t.same(node.tool(["check"]), { exitCode: 0, stdout: "No problems found.\n", stderr: "" });
  t.same(node.json(["check"]), {
    exitCode: 0,
    document: {
      findings: [],
      omitted: 0,
      counts: { error: 0, warning: 0, info: 0, repaired: 0 },
      networks: ["net"],
    },
  });
});

test("of very many findings of one kind JSON has the first thousand, and how many more there are", async (t) => {
  const node = nodeWithPod(t);
  const names = Array.from({ length: 1002 }, (_, at) => `198.18.${8 + (at >> 8)}.${at & 255}`);
  for (const name of names) node.write(`net/${name}`, "for the printer");
  node.write("net/198.51.100.7", "");
  node.age("net/198.51.100.7", 60);
  const { exitCode, document } = node.json(["check"]);
  const { findings, omitted, counts } = document as {
    readonly findings: readonly { readonly code: string; readonly path: string }[];
    readonly omitted: unknown;
    readonly counts: unknown;
  };
  const malformed = findings.filter(({ code }) => code === "malformed-reservation");
  t.equal(malformed.length, 1000);
  t.equal(malformed.at(-1)?.path, join(node.dataDir, "net", names[999] ?? ""));
  t.equal(omitted, 4, "two of each code");
  t.equal(findings.filter(({ code }) => code === "empty-reservation").length, 1);
  t.same(counts, { error: 0, warning: 2005, info: 0, repaired: 0 });
  t.equal(exitCode, 1);
  t.match(node.tool(["check"]).stdout, "982 more; --json lists up to 1000 of each network");
});

for (const [name, [code, corrupt]] of Object.entries(cases)) {
  const isRepaired = code === "empty-reservation";
  test(`${name}: ${code}, which is ${isRepaired ? "" : "not "}repaired`, async (t) => {
    const node = nodeWithPod(t);
    const path = corrupt(node);
    const before = node.everything();
    const found = (...words: readonly string[]) =>
      node.findings(words).find((finding) => finding.code === code);

    t.match(found(), { severity: "warning", path, repaired: false });
    t.same(node.everything(), before, "nothing was changed");
    t.equal(found("--repair")?.repaired, isRepaired);
    t.equal(found() === undefined, isRepaired);
    t.equal(node.read("net/198.51.100.2"), "c1\r\neth0", "the pod keeps its address");
  });
}

test("below each finding is its remedy, errors first, and a last line counts them by code", async (t) => {
  const node = nodeWithPod(t);
  node.write("net/198.51.100.9", "kept for the printer");
  node.write("net/198.51.100.10", "kept for the scanner");
  node.write("net/203.0.113.9", "c9\r\neth0");
  writeFileSync(join(node.confDir, "bad.conf"), "{");

  const { exitCode, stdout, stderr } = node.tool(["check"]);

  t.equal(exitCode, 1);
  t.equal(stderr, "");
  t.equal(
    belowRoot(node, stdout, "NODE"),
    `error unreadable-configuration NODE/net.d/bad.conf: invalid JSON at line 1, column 2: unexpected end of JSON input
  What to do: correct what the message names. If no pod uses its network, you can move the file out of its directory instead. If it sorts first there, drain the node before: the next file then becomes the node's network

warning malformed-reservation net NODE/networks/net/198.51.100.9: the file names no container
warning malformed-reservation net NODE/networks/net/198.51.100.10: the file names no container
  What to do: remove the file once no pod uses the address; if it is there to block the address, use ipam.exclude instead

warning out-of-range net NODE/networks/net/203.0.113.9: 203.0.113.9 is outside all ranges, held by container c9
  What to do: if its container is dead, release the address; otherwise restart its pod, which then gets another one
    host-local release 203.0.113.9 --network net --conf-dir NODE/net.d --data-dir NODE/networks --cache-dir NODE/cache

1 error: unreadable-configuration; 3 warnings: malformed-reservation (2), out-of-range
`,
  );
});

test("what --repair has removed is said", async (t) => {
  const node = nodeWithPod(t);
  node.write("net/198.51.100.9", "\0\0", 60);

  const { exitCode, stdout } = node.tool(["check", "--repair"]);

  t.equal(exitCode, 0);
  t.match(stdout, "the file is empty, so no DEL can release it; removed");
  t.match(stdout, /; 1 repaired\n$/);
  t.equal(node.tool(["check"]).stdout, "No problems found.\n");
});

test("a network that cannot be repaired does not keep the others from being repaired", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "198.51.100.0/28", lockTimeoutSeconds: 1 });
  node.network("other", { subnet: "203.0.113.0/24" });
  node.write("net/198.51.100.9", "", 60);
  node.write("other/203.0.113.9", "", 60);
  await holdLock(t, node.dataDir);

  const { exitCode, stdout, stderr } = node.tool(["check", "--repair"]);

  t.equal(exitCode, 1);
  t.match(stderr, /net: network net is locked/);
  t.match(stdout, /; removed/);
  t.equal(node.read("net/198.51.100.9"), "");
  t.throws(() => node.read("other/203.0.113.9"), { code: "ENOENT" });
});

test("a file that has just been created empty is not reported: the Go plugin is writing it", async (t) => {
  const node = nodeWithPod(t);
  node.write("net/198.51.100.9", "");

  t.same(
    node.findings(["--repair"]).map(({ code }) => code),
    [],
  );
  t.equal(node.read("net/198.51.100.9"), "");
});

test("a pod with an address excluded for it is named, and so is an entry that no pod could get", async (t) => {
  const node = nodeFor(t);
  const ipam = { subnet: "198.51.100.0/24" };
  for (const id of ["c2", "c3", "c4", "c5"]) {
    node.add("net", ipam, id);
    node.remember("net", id, id === "c5" ? "" : `default/${id}`);
  }
  node.write("net/198.51.100.9", "kept for the printer");
  const reserved = {
    "198.51.100.2": "default/db-0",
    "198.51.100.3": "default/c3",
    "198.51.100.5": "default/db-1",
    "198.51.100.1": "default/db-2",
    "203.0.113.0/28": null,
  };
  node.network("net", { ...ipam, exclude: ["198.51.100.4", "198.51.100.9"], reserved });

  const findings = node.findings().filter(({ code }) => code === "out-of-range");

  t.same(
    findings.map(({ message }) => message),
    [
      "198.51.100.1 is reserved for default/db-2 (ipam.reserved), but is outside all ranges, or the gateway",
      "203.0.113.0-203.0.113.15 is reserved for nobody (ipam.reserved), but is outside all ranges, or the gateway",
      "198.51.100.2 is reserved for default/db-0 (ipam.reserved), held by default/c2 (container c2)",
      "198.51.100.4 is excluded (ipam.exclude), held by default/c4 (container c4)",
    ],
  );
});

test("only the named network is checked", async (t) => {
  const node = nodeWithPod(t);
  node.network("other", { subnet: "203.0.113.0/24" });
  node.call("ADD", "other", "c1");
  node.write("other/203.0.113.9", "kept for the printer");

  t.same(node.findings(["net"]), []);
  t.match(node.findings(["other"]), [{ code: "malformed-reservation", network: "other" }]);
  t.match(node.tool(["check", "none"]), { exitCode: 2, stderr: /unknown network "none"/ });
});

for (const command of ["check", "gc"]) {
  test(`without permission to read ${command} stops with an error`, {
    skip: isRoot && lacking("acts as others"),
  }, async (t) => {
    const node = nodeWithPod(t);
    chmodSync(join(node.dataDir, "net/198.51.100.2"), isRoot ? 0o600 : 0);

    const outcome = node.tool([command], withoutPrivileges(t));

    t.match(outcome, { exitCode: 2, stderr: /permission denied; run as root/ });
  });
}

test("for node-problem-detector: one line of at most 80 characters, and its exit codes", async (t) => {
  const node = nodeWithPod(t);
  const line = /^.{1,80}\n$/;

  const fine = node.tool(["check", "--node-problem-detector"]);
  t.same(fine, { exitCode: 0, stdout: "OK: host-local check found no problems\n", stderr: "" });

  node.write("net/198.51.100.9", "", 60);
  node.write("net/203.0.113.9", "c1\r\neth0");
  node.write("net/198.51.100.8", "kept for the printer");
  const wrong = node.tool(["check", "--node-problem-detector"]);
  t.equal(wrong.exitCode, 1);
  t.match(wrong.stdout, line);
  t.equal(
    wrong.stdout,
    "0 errors, 3 warnings: malformed-reservation, empty-reservation, out-of-range\n",
  );

  const unknown = node.tool(["check", "a-network-that-is-not-there", "--node-problem-detector"]);
  t.equal(unknown.exitCode, 2);
  t.match(unknown.stdout, line);
});

test("a missing directory of libcni's cache is an error: there would seem to be no pods", async (t) => {
  const node = nodeWithPod(t);
  for (const command of ["check", "list", "metrics"]) {
    t.strictSame(node.tool([command, "--cache-dir", "/nowhere"]), {
      exitCode: 2,
      stdout: "",
      stderr: `host-local: ${command}: --cache-dir: /nowhere: no such file or directory\n`,
    });
  }
});

test("a node without any network is not a problem, and said so", async (t) => {
  const node = nodeFor(t);

  const { exitCode, stdout } = node.tool(["check"]);

  t.equal(exitCode, 0);
  t.match(
    belowRoot(node, stdout, "NODE"),
    "info no-networks: no network: none is configured in NODE/net.d, and none has a directory in NODE/networks",
  );
});

test("what writes a lost reservation does not write over one that another pod has got meanwhile", {
  skip: lacking("sees the node", "makes namespaces"),
}, async (t) => {
  const node = nodeWithPod(t);
  const netns = join(node.root, "lost");
  mountNamespace(t, netns);
  node.remember("net", "lost", "default/lost", { netns, addresses: ["198.51.100.3/28"] });
  const [finding, ...others] = node.findings();
  t.same(others, []);
  t.match(finding, { code: "live-without-reservation" });
  t.equal(finding?.commands.length, 1);

  node.write("net/198.51.100.3", "other\r\neth0");
  const { exitCode } = runAsPrinted(t, finding?.commands[0] ?? "");
  // Shells differ in the exit code for a file that they are not to write over.
  t.ok(exitCode === 1 || exitCode === 2, `exit code ${exitCode}`);
  t.equal(node.read("net/198.51.100.3"), "other\r\neth0");
});
