/** `check` on real directories. */

import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../../blackbox/data-directory.ts";
import { isRoot, withoutPrivileges } from "../../blackbox/unprivileged.ts";
import { goPlugin, skipWithoutGoPlugin } from "../../differential/go-plugin.ts";
import { type Node, nodeFor, withoutPaths } from "../node.ts";

interface Found {
  readonly code: string;
  readonly severity: string;
  readonly network: string;
  readonly path: string;
  readonly repairable: boolean;
  readonly repaired: string | null;
}

/** A node with the network `net` and one pod, without a program that would know its bridges. */
function nodeWithPod(t: Test, ipam = { subnet: "10.1.2.0/28" }): Node {
  const node = nodeFor(t);
  node.configure("net", ipam);
  node.call("ADD", "net", "c1");
  return node;
}

function findingsOf(node: Node, ...words: readonly string[]): readonly Found[] {
  const { document } = node.json(["check", ...words]);
  return (document as { readonly findings: readonly Found[] }).findings;
}

/** What a case does to the node, and what check is to say of it. */
interface Case {
  readonly code: string;
  readonly severity: "error" | "warning" | "info";
  readonly repairable?: boolean;
  /** Returns the path that is to be named. */
  readonly spoil: (node: Node) => string;
}

const cases: Readonly<Record<string, Case>> = {
  "an empty reservation": {
    code: "empty-reservation",
    severity: "warning",
    repairable: true,
    spoil: (node) => node.put("net/10.1.2.9", "", 60),
  },
  "a reservation of NULs, as after a power loss": {
    code: "empty-reservation",
    severity: "warning",
    repairable: true,
    spoil: (node) => node.put("net/10.1.2.9", "\0\0\0", 60),
  },
  "a reservation that names no container": {
    code: "malformed-reservation",
    severity: "warning",
    spoil: (node) => node.put("net/10.1.2.9", "kept for the printer"),
  },
  "a directory in the place of a reservation": {
    code: "malformed-reservation",
    severity: "warning",
    spoil: ({ directory }) => {
      mkdirSync(join(directory, "net/10.1.2.9"));
      return join(directory, "net/10.1.2.9");
    },
  },
  "a reservation in no range": {
    code: "out-of-range",
    severity: "warning",
    spoil: (node) => node.put("net/10.9.9.9", "c9\r\neth0"),
  },
  "a reservation of the gateway": {
    code: "reserved-gateway",
    severity: "warning",
    spoil: (node) => node.put("net/10.1.2.1", "c9\r\neth0"),
  },
  "two addresses of one range set for one attachment": {
    code: "duplicate-owner",
    severity: "warning",
    spoil: (node) => node.put("net/10.1.2.9", "c1\r\neth0"),
  },
  "a name that ADD would not look for": {
    code: "odd-name",
    severity: "warning",
    spoil: (node) => node.put("net/::ffff:10.1.2.9", "c9\r\neth0"),
  },
  "a reservation that anybody may write": {
    code: "writable-by-others",
    severity: "warning",
    spoil: ({ directory }) => {
      const path = join(directory, "net/10.1.2.2");
      chmodSync(path, 0o666);
      return path;
    },
  },
  "a cursor outside its range": {
    code: "cursor-outside-range",
    severity: "warning",
    repairable: true,
    spoil: (node) => node.put("net/last_reserved_ip.0", "10.9.9.9", 60),
  },
  "a cursor that is no address": {
    code: "malformed-cursor",
    severity: "warning",
    repairable: true,
    spoil: (node) => node.put("net/last_reserved_ip.0", "10.1.", 60),
  },
  "a cursor of a range set that is not configured": {
    code: "spare-cursor",
    severity: "info",
    repairable: true,
    spoil: (node) => node.put("net/last_reserved_ip.7", "10.1.2.2", 60),
  },
  "a temporary file of a killed call": {
    code: "leftover-file",
    severity: "info",
    repairable: true,
    spoil: (node) => node.put(".host-local/net/new/4242.0", "c9\r\neth0", 120),
  },
  "the notes of a collection that is run no more": {
    code: "leftover-gc-state",
    severity: "info",
    repairable: true,
    spoil: (node) =>
      node.put(".host-local/net/seen-dead.json", '[["10.1.2.2","c1","1",2]]', 9 * 24 * 3600),
  },
  "what is kept for a network that is gone": {
    code: "leftover-directory",
    severity: "info",
    spoil: (node) => join(node.put(".host-local/gone/stamp", ""), ".."),
  },
  "a file that is none of ours": {
    code: "foreign-file",
    severity: "info",
    spoil: (node) => node.put("net/notes.txt", "buy milk"),
  },
  "a network that nothing configures": {
    code: "unconfigured-network",
    severity: "info",
    spoil: (node) => {
      node.put("old/lock", "");
      return join(node.directory, "old");
    },
  },
  "a configuration that cannot be read": {
    code: "unreadable-configuration",
    severity: "error",
    spoil: ({ confDir }) => {
      const path = join(confDir, "bad.conf");
      writeFileSync(path, "{");
      return path;
    },
  },
  "two networks with the same addresses": {
    code: "overlapping-ranges",
    severity: "warning",
    spoil: (node) => {
      node.configure("other", { subnet: "10.1.2.8/29" });
      return join(node.confDir, "net.conf");
    },
  },
  "an address that is taken in two networks": {
    code: "address-in-two-networks",
    severity: "error",
    spoil: (node) => {
      node.configure("other", { subnet: "10.1.0.0/16", rangeStart: "10.1.2.2" });
      node.call("ADD", "other", "c2");
      return join(node.directory, "net/10.1.2.2");
    },
  },
};

test("a node in order: nothing is wrong", (t) => {
  const node = nodeWithPod(t);

  t.same(node.tool(["check"]), { exitCode: 0, stdout: "Nothing is wrong.\n", stderr: "" });
  t.same(node.json(["check"]), {
    exitCode: 0,
    document: {
      findings: [],
      counts: { error: 0, warning: 0, info: 0, repaired: 0 },
      networks: ["net"],
    },
  });
  t.end();
});

for (const [name, { code, severity, repairable = false, spoil }] of Object.entries(cases)) {
  test(`${name}: ${code}`, (t) => {
    const node = nodeWithPod(t);
    const path = spoil(node);
    const before = node.everything();

    const found = findingsOf(node).find((finding) => finding.code === code);

    t.match(found, { severity, repairable, repaired: null });
    t.equal(found?.path, path);
    t.same(node.everything(), before, "nothing was changed");
    t.end();
  });

  test(`${name}: ${repairable ? "is repaired" : "is not repaired"}`, (t) => {
    const node = nodeWithPod(t);
    spoil(node);

    const found = findingsOf(node, "--repair").find((finding) => finding.code === code);

    t.equal(found?.repaired !== null, repairable);
    t.equal(
      findingsOf(node).some((finding) => finding.code === code),
      !repairable,
    );
    t.equal(node.read("net/10.1.2.2"), "c1\r\neth0", "the pod keeps its address");
    t.end();
  });
}

test("a reservation that somebody else owns is told", {
  skip: isRoot ? false : "only root can give a file away",
}, (t) => {
  const node = nodeWithPod(t);
  chownSync(join(node.directory, "net/10.1.2.2"), 4242, 4242);

  t.match(findingsOf(node), [{ code: "foreign-user", severity: "warning" }]);
  t.end();
});

test("the table names what was found and what to do, the worst first", (t) => {
  const node = nodeWithPod(t);
  node.put("net/10.1.2.9", "kept for the printer");
  node.put("net/10.9.9.9", "c9\r\neth0");
  writeFileSync(join(node.confDir, "bad.conf"), "{");

  const { exitCode, stdout, stderr } = node.tool(["check"]);

  t.equal(exitCode, 1);
  t.equal(stderr, "");
  t.equal(
    withoutPaths(node, stdout),
    [
      "SEVERITY  CODE  NETWORK  WHERE  WHAT",
      "error  unreadable-configuration  -  NODE/conf/bad.conf  it is not JSON: unexpected end of JSON input",
      "warning  malformed-reservation  net  NODE/data/net/10.1.2.9  the file names no container",
      "warning  out-of-range  net  NODE/data/net/10.9.9.9  10.9.9.9 is in no range, held by c9 eth0",
      "info  stale-index  net  NODE/data/.host-local/net/owners  somebody else wrote to the network's directory",
      "",
      "What to do:",
      "  unreadable-configuration: correct the file, or move it out of the directory of configurations",
      "  malformed-reservation: if nobody wrote it to keep the address from being used (ipam.exclude does that), remove the file",
      "  out-of-range: nothing while its container lives; if it is dead, host-local release ADDRESS",
      "  stale-index: nothing; the next call that needs it reads all reservations once",
      "",
      "1 error, 2 warnings, 1 only good to know",
      "",
    ].join("\n"),
  );
  t.end();
});

test("what is only good to know leaves the exit code at 0", (t) => {
  const node = nodeWithPod(t);
  node.put("net/notes.txt", "buy milk");

  t.equal(node.tool(["check"]).exitCode, 0);
  t.end();
});

test("a repair copies what it removes, with its content", (t) => {
  const node = nodeWithPod(t);
  node.put("net/10.1.2.9", "\0\0", 60);
  node.put("net/last_reserved_ip.0", "10.9.9.9", 60);

  t.match(node.tool(["check", "--repair"]), { exitCode: 0, stdout: /; 3 repaired\n$/ });

  const root = join(node.directory, ".host-local/net/repaired");
  const [time = "", ...others] = readdirSync(root);
  t.same(others, []);
  t.match(time, /^[0-9]{8}T[0-9]{6}\.[0-9]{3}Z$/);
  t.same(readdirSync(join(root, time)).sort(), ["10.1.2.9", "last_reserved_ip.0"]);
  t.equal(readFileSync(join(root, time, "10.1.2.9"), "utf8"), "\0\0");
  t.equal(readFileSync(join(root, time, "last_reserved_ip.0"), "utf8"), "10.9.9.9");
  t.equal(node.tool(["check"]).stdout, "Nothing is wrong.\n");
  t.end();
});

test("--backup-dir takes the copies, and belongs to --repair", (t) => {
  const node = nodeWithPod(t);
  node.put("net/10.1.2.9", "", 60);
  const backup = scratchDirectory(t);

  t.equal(node.tool(["check", "--backup-dir", backup]).exitCode, 2);
  t.equal(node.tool(["check", "--repair", "--backup-dir", backup]).exitCode, 0);

  const [time = ""] = readdirSync(join(backup, "net"));
  t.same(readdirSync(join(backup, "net", time)), ["10.1.2.9"]);
  t.end();
});

test("where no copy can be made nothing is removed", (t) => {
  const node = nodeWithPod(t);
  const path = node.put("net/10.1.2.9", "", 60);

  const { exitCode, stderr } = node.tool(["check", "--repair", "--backup-dir", `${path}/x`]);

  t.equal(exitCode, 1);
  t.match(stderr, /not a directory/);
  t.equal(node.read("net/10.1.2.9"), "");
  t.end();
});

test("one network that cannot be repaired does not keep the others from it", (t) => {
  const node = nodeWithPod(t);
  node.configure("other", { subnet: "10.7.0.0/24" });
  node.put("net/10.1.2.9", "", 60);
  node.put("other/10.7.0.9", "", 60);
  node.put(".host-local/net/repaired", "a file");

  const { exitCode, stdout, stderr } = node.tool(["check", "--repair"]);

  t.equal(exitCode, 1);
  t.match(stderr, /net: mkdir .*repaired: not a directory/);
  t.match(stdout, /removed; copy/);
  t.equal(node.read("net/10.1.2.9"), "");
  t.throws(() => node.read("other/10.7.0.9"), { code: "ENOENT" });
  t.end();
});

test("no copy lands where a link in place of our own directory leads", (t) => {
  const node = nodeWithPod(t);
  const elsewhere = scratchDirectory(t);
  node.put("net/10.1.2.9", "", 60);
  symlinkSync(elsewhere, join(node.directory, ".host-local/net/repaired"));

  t.equal(node.tool(["check", "--repair"]).exitCode, 1);

  t.same(readdirSync(elsewhere), []);
  t.equal(node.read("net/10.1.2.9"), "");
  t.end();
});

test("a file that was empty only for a moment is not told: the Go plugin is writing it", (t) => {
  const node = nodeWithPod(t);
  node.put("net/10.1.2.9", "");

  t.same(
    findingsOf(node, "--repair").map(({ code }) => code),
    ["stale-index"],
  );
  t.equal(node.read("net/10.1.2.9"), "");
  t.end();
});

test("one network is looked at where one is named", (t) => {
  const node = nodeWithPod(t);
  node.configure("other", { subnet: "10.7.0.0/24" });
  node.call("ADD", "other", "c1");
  node.put("other/10.7.0.9", "kept for the printer");

  t.same(findingsOf(node, "net"), []);
  t.match(findingsOf(node, "other"), [{ code: "malformed-reservation", network: "other" }, {}]);
  t.match(node.tool(["check", "none"]), { exitCode: 2, stderr: /there is no network "none"/ });
  t.end();
});

test("ranges that the runtime brings make nothing out of range", (t) => {
  const node = nodeFor(t);
  node.configure("net", { subnet: "10.1.2.0/28" }, { capabilities: { ipRanges: true } });
  node.put("net/10.9.9.9", "c9\r\neth0");
  node.put("net/last_reserved_ip.0", "10.9.9.9", 60);

  t.same(findingsOf(node), []);
  t.end();
});

test("without permission to read it says so, and looks no further", (t) => {
  const node = nodeWithPod(t);
  chmodSync(join(node.directory, "net/10.1.2.2"), isRoot ? 0o600 : 0);

  const outcome = node.tool(["check"], withoutPrivileges(t));

  t.match(outcome, { exitCode: 2, stderr: /permission denied; run it as root/ });
  t.end();
});

test("for node-problem-detector: one line of at most 80 characters, and its exit codes", (t) => {
  const node = nodeWithPod(t);
  const line = /^.{1,80}\n$/;

  const fine = node.tool(["check", "--node-problem-detector"]);
  t.same(fine, { exitCode: 0, stdout: "OK: host-local check found nothing wrong\n", stderr: "" });

  node.put("net/10.1.2.9", "", 60);
  node.put("net/10.9.9.9", "c1\r\neth0");
  node.put("net/10.1.2.8", "c1\r\neth0");
  const wrong = node.tool(["check", "--node-problem-detector"]);
  t.equal(wrong.exitCode, 1);
  t.match(wrong.stdout, line);
  t.equal(wrong.stdout, "0 errors, 3 warnings: empty-reservation, out-of-range, duplicate-owner\n");

  const unknown = node.tool(["check", "a-network-that-is-not-there", "--node-problem-detector"]);
  t.equal(unknown.exitCode, 2);
  t.match(unknown.stdout, line);
  t.end();
});

test("what the Go plugin made is in order", { skip: skipWithoutGoPlugin }, (t) => {
  const node = nodeFor(t);
  node.configure("net", { subnet: "10.1.2.0/28" });
  for (const id of ["c1", "c2"]) node.call("ADD", "net", id, goPlugin?.path);

  t.same(node.tool(["check"]), { exitCode: 0, stdout: "Nothing is wrong.\n", stderr: "" });
  t.end();
});

test("an index that the Go plugin outran is only good to know, and is built anew", {
  skip: skipWithoutGoPlugin,
}, (t) => {
  const node = nodeWithPod(t);
  node.call("ADD", "net", "c2", goPlugin?.path);

  t.match(findingsOf(node), [{ code: "stale-index", severity: "info" }]);
  t.match(findingsOf(node, "--repair"), [{ repaired: /^built anew/ }]);
  t.same(findingsOf(node), []);
  t.end();
});

const bridged = { type: "bridge", bridge: "cni0", isGateway: true };

/** A program `ip` that knows one interface, and the environment in which it is found first. */
function withInterfaces(t: Test, addresses: readonly string[]) {
  const directory = scratchDirectory(t);
  const info = addresses.map((text) => {
    const [local, length] = text.split("/");
    return {
      local,
      prefixlen: Number(length),
      scope: local?.startsWith("fe80") ? "link" : "global",
    };
  });
  const interfaces = JSON.stringify([{ ifname: "cni0", addr_info: info }]);
  writeFileSync(join(directory, "ip"), `#!/bin/sh\necho '${interfaces}'\n`, { mode: 0o755 });
  return { environment: { PATH: `${directory}:/usr/bin:/bin` } };
}

const bridges: readonly (readonly [string, readonly string[], string | undefined])[] = [
  ["the gateway's address", ["10.1.2.1/28", "fe80::1/64"], undefined],
  ["another address", ["10.99.0.1/24"], "cni0 has 10.99.0.1/24; expected the gateway 10.1.2.1/28"],
  [
    "another prefix length",
    ["10.1.2.1/16"],
    "cni0 has 10.1.2.1/16; expected the gateway 10.1.2.1/28",
  ],
  [
    "no address, while pods have some",
    ["fe80::1/64"],
    "cni0 has no address of the network; expected the gateway 10.1.2.1/28",
  ],
];

for (const [name, addresses, message] of bridges) {
  test(`a bridge with ${name}`, (t) => {
    const node = nodeFor(t);
    node.configure("net", { subnet: "10.1.2.0/28" }, bridged);
    node.call("ADD", "net", "c1");

    const { exitCode, document } = node.json(["check"], withInterfaces(t, addresses));

    t.equal(exitCode, message === undefined ? 0 : 1);
    t.match(document, {
      findings:
        message === undefined ? [] : [{ code: "bridge-address", severity: "error", message }],
    });
    t.end();
  });
}

test("a bridge that is not there yet, or has no gateway by configuration, is fine", (t) => {
  const node = nodeFor(t);
  node.configure("net", { subnet: "10.1.2.0/28" }, { ...bridged, bridge: "none0" });
  node.configure("layer2", { subnet: "10.1.3.0/28" }, { ...bridged, isGateway: false });

  const { document } = node.json(["check"], withInterfaces(t, ["10.99.0.1/24"]));

  t.match(document, { findings: [] });
  t.end();
});

test("without the program ip bridges are not compared, which is told", (t) => {
  const node = nodeFor(t);
  node.configure("net", { subnet: "10.1.2.0/28" }, bridged);

  const outcome = node.json(["check"], { environment: { PATH: scratchDirectory(t) } });

  t.match(outcome, { exitCode: 0, document: { findings: [{ code: "bridge-unknown" }] } });
  t.end();
});
