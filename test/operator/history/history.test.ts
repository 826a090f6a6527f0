// test: each executable, one if short, Go plugin
/** `history` on histories that plugins, commands and accidents have left. */

import { appendFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { goPlugin, skipWithoutGoPlugin } from "../../harness/go-plugin.ts";
import { isRoot, withoutPrivileges } from "../../harness/unprivileged.ts";
import { type Node, nodeFor } from "../node.ts";

const ipam = { subnet: "10.48.0.0/24", history: true };

function nodeWithHistory(t: Test, changed = {}): Node {
  const node = nodeFor(t);
  node.network("net", { ...ipam, ...changed });
  return node;
}

function pathOf({ dataDir }: Node): string {
  return join(dataDir, ".host-local/net/history");
}

/** Appends lines, each with its time. */
function write(node: Node, ...lines: readonly string[]): void {
  if (!existsSync(pathOf(node))) node.write(".host-local/net/history", "");
  appendFileSync(pathOf(node), lines.map((line) => `${line}\n`).join(""));
}

/** Exit code and standard output of `history`, with `TIME` for the times of today. */
function ask(node: Node, ...words: readonly string[]): readonly [number | null, string] {
  const { exitCode, stdout } = node.tool(["history", ...words]);
  const today = new Date().toISOString().slice(0, 10);
  return [exitCode, stdout.replaceAll(new RegExp(`${today}T[0-9:.]+Z`, "g"), "TIME")];
}

const night = [
  "2026-01-31T01:00:00.000Z ADD 10.48.0.7 aaa eth0 default/web containerd/bridge",
  "2026-01-31T02:58:00.000Z DEL 10.48.0.7 aaa eth0 default/web containerd/bridge",
  "2026-01-31T02:59:30.000Z ADD 10.48.0.7 bbb eth0 kube-system/job containerd/bridge",
  "2026-01-31T03:04:00.000Z gc 10.48.0.7 bbb eth0 - host-local gc net --yes",
];

test("who had this address at three in the morning is one line", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night);

  t.strictSame(ask(node, "10.48.0.7", "--at", "2026-01-31 03:00"), [
    0,
    `10.48.0.7 of net: kube-system/job (container bbb eth0), from 2026-01-31T02:59:30.000Z until 2026-01-31T03:04:00.000Z, released by: host-local gc net --yes
The history of net begins at 2026-01-31T01:00:00.000Z.
`,
  ]);
  t.match(ask(node, "10.48.0.7", "--at", "2026-01-31T02:57:59Z")[1], /^10.*: default\/web \(/);
});

test("the history of a network that is gone, with its configuration and directory, can be asked", async (t) => {
  const node = nodeFor(t);
  write(node, ...night);

  for (const words of [["10.48.0.7"], ["10.48.0.7", "--network", "net"]]) {
    const [exitCode, stdout] = ask(node, ...words);
    t.equal(exitCode, 0);
    t.match(stdout, /^10\.48\.0\.7 of net: default\/web /);
  }
  t.match(node.tool(["history", "10.48.0.7", "--network", "other"]), {
    exitCode: 2,
    stderr: /unknown network "other"; known networks: net/,
  });
  t.match(node.tool(["networks"]).stdout, /^NETWORK[^\n]*\n$/, "it is no network of the node");
});

test("at a time without a holder it says so, and that there are others", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night);
  for (const at of ["2026-01-31 02:58:30", "2026-01-31 03:04", "2026-01-30"]) {
    const [exitCode, text] = ask(node, "10.48.0.7", "--at", at);
    t.equal(exitCode, 1);
    t.match(
      text,
      /^Nothing is known of 10\.48\.0\.7 at this time; 2 lines about other times: host/,
    );
    t.match(text, "\nThe history of net begins at 2026-01-31T01:00:00.000Z.\n");
  }
});

test("the lines of an address, a container and a pod, at any time or since one", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night);
  const holders = (...words: readonly string[]): readonly string[] =>
    ask(node, ...words)[1].match(/container \w+/g) ?? [];
  t.strictSame(holders("10.48.0.7"), ["container aaa", "container bbb"]);
  t.strictSame(holders("10.48.0.7/24", "--since", "2026-01-31 02:58"), ["container bbb"]);
  t.strictSame(holders("10.48.0.7", "--since", "1s"), []);
  t.strictSame(holders("bb"), ["container bbb"]);
  t.strictSame(holders("default/web"), ["container aaa"]);
  t.strictSame(holders("default/we"), []);
  t.strictSame(holders("10.48.0.8"), []);
});

test("what the plugin and the commands do is in it, with the command", async (t) => {
  const node = nodeWithHistory(t);
  for (const id of ["c1", "c2", "c3"]) node.call("ADD", "net", id);
  node.call("DEL", "net", "c1");
  node.tool(["release", "10.48.0.3", "--yes", "--force"]);
  node.write("live", "c9");
  node.tool([
    "gc",
    "--live",
    join(node.dataDir, "live"),
    ...["--now", "--yes", "--force", "--grace=0s"],
  ]);
  node.write("net/10.48.0.5", "", 60);
  node.tool(["check", "--repair"]);

  const text = readFileSync(pathOf(node), "utf8");
  t.match(text, /^\S+ check 10\.48\.0\.5 - - - host-local check --repair /m);
  t.match(ask(node, "c1"), [
    0,
    / from TIME until TIME, released by DEL \(.+\)\nThe history of net/,
  ]);
  t.match(ask(node, "c2"), [0, / until TIME, released by: host-local release 10\.48\.0\.3 --yes /]);
  t.match(ask(node, "c3"), [0, / until TIME, released by: host-local gc --live /]);
});

test("a command appends where the file exists, and where the configuration says so, only", async (t) => {
  for (const [history, exists, isKept] of [
    [true, false, true],
    [false, true, true],
    [false, false, false],
  ] as const) {
    const node = nodeWithHistory(t, { history: false });
    node.call("ADD", "net", "c1");
    if (exists) write(node);
    node.network("net", { ...ipam, history });

    t.equal(node.tool(["release", "10.48.0.2", "--yes", "--force"]).exitCode, 0);

    t.equal(existsSync(pathOf(node)) && readFileSync(pathOf(node), "utf8") !== "", isKept);
  }
});

test("an address that is held now is, and one from before the history is by its file", async (t) => {
  const node = nodeWithHistory(t);
  node.write("net/10.48.0.9", "old\r\neth0", 7200);
  node.remember("net", "old", "default/old");
  node.call("ADD", "net", "c1");

  t.match(ask(node, "10.48.0.2"), [
    0,
    /^10\.48\.0\.2 of net: container c1 eth0, from TIME until now\n/,
  ]);
  t.match(ask(node, "10.48.0.9", "--at", "1h"), [
    0,
    /^10\.48\.0\.9 of net: default\/old \(container old eth0\), from \S+ by the time of its file until now\nThe history of net begins at TIME\.\n$/,
  ]);
  t.equal(ask(node, "10.48.0.9", "--at", "3h")[0], 1);
});

test("a release by the Go plugin is not seen, and shows", {
  skip: skipWithoutGoPlugin,
}, async (t) => {
  const node = nodeWithHistory(t);
  const go = goPlugin?.path ?? "";
  node.call("ADD", "net", "c1");
  node.call("DEL", "net", "c1", go);
  t.match(ask(node, "10.48.0.2"), [0, /c1 eth0, from TIME until an unknown time before TIME\n/]);

  node.add("net", { ...ipam, rangeEnd: "10.48.0.2" }, "c2", { program: go });
  t.match(ask(node, "10.48.0.2"), [
    0,
    /c1 eth0, from TIME until an unknown time before TIME\n10.*c2 eth0, from TIME by the time of its file until now\n/,
  ]);

  node.call("DEL", "net", "c2");
  t.match(ask(node, "c2"), [
    0,
    /c2 eth0, from an unknown time after TIME until TIME, released by DEL/,
  ]);
});

test("a history that was rotated, deleted or cut off says from when on it knows", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night.slice(0, 2));
  renameSync(pathOf(node), `${pathOf(node)}.1`);
  write(node, ...night.slice(2));
  t.match(ask(node, "10.48.0.7")[1], /aaa[\s\S]*bbb[\s\S]*begins at 2026-01-31T01:00:00\.000Z\.\n/);

  rmSync(`${pathOf(node)}.1`);
  t.match(
    ask(node, "10.48.0.7")[1],
    /^10\S+ of net: kube[\s\S]*begins at 2026-01-31T02:59:30\.000Z\.\n/,
  );

  appendFileSync(pathOf(node), "2026-01-31T03:05:00.000Z ADD 10.48.0.7 cc");
  node.call("ADD", "net", "c1");
  t.match(ask(node, "c1")[1], /^10\.48\.0\.2 of net: container c1 eth0, from TIME until now\n/);

  rmSync(pathOf(node));
  t.strictSame(ask(node, "10.48.0.7"), [
    1,
    `Nothing is known of 10.48.0.7.
net has no history; "history": true in its ipam configuration starts one.
`,
  ]);
});

test("a clock that was set back is mentioned", async (t) => {
  const node = nodeWithHistory(t);
  write(
    node,
    "2026-01-31T05:00:00.000Z ADD 10.48.0.7 aaa eth0 - -",
    "2026-01-31T04:00:00.000Z DEL 10.48.0.7 aaa eth0 - -",
  );
  t.strictSame(ask(node, "10.48.0.7", "--at", "2026-01-31T04:30Z"), [
    0,
    `10.48.0.7 of net: container aaa eth0, from 2026-01-31T05:00:00.000Z until 2026-01-31T04:00:00.000Z, released by DEL
The history of net begins at 2026-01-31T05:00:00.000Z. The clock was set back to 2026-01-31T04:00:00.000Z then.
`,
  ]);
});

test("networks are told apart", async (t) => {
  const node = nodeFor(t);
  for (const name of ["one", "two"]) {
    node.network(name, { ...ipam, history: name === "one" });
    node.call("ADD", name, "c1");
  }
  t.match(ask(node, "c1"), [
    0,
    /^10.* of one: .*\n10.* of two: .* by the time of its file until now\nThe history of one begins at TIME\.\ntwo has no history; .*\n$/,
  ]);
  t.match(ask(node, "c1", "--network", "one"), [0, /^10.* of one: .*\nThe history of one .*\n$/]);
});

test("the document has the times and callers apart", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night);
  t.strictSame(node.json(["history", "bbb"]), {
    exitCode: 0,
    document: {
      holdings: [
        {
          network: "net",
          address: "10.48.0.7",
          container: "bbb",
          interface: "eth0",
          pod: "kube-system/job",
          held: false,
          from: "2026-01-31T02:59:30.000Z",
          fromAfter: null,
          source: "history",
          reservedBy: "containerd/bridge",
          until: "2026-01-31T03:04:00.000Z",
          untilBefore: null,
          releasedWith: "gc",
          releasedBy: "host-local gc net --yes",
        },
      ],
      networks: [{ network: "net", begins: "2026-01-31T01:00:00.000Z", clockSetBack: null }],
    },
  });
});

test("wrong usage ends with 2", async (t) => {
  const node = nodeWithHistory(t);
  for (const [words, problem] of [
    [["c1", "--at", "1h", "--since", "1h"], "history: --at and --since exclude each other"],
    [["c1", "--at", "3 o'clock"], "--at: expected a time in UTC such as 03:00, "],
  ] as const) {
    const { exitCode, stdout, stderr } = node.tool(["history", ...words]);
    t.strictSame([exitCode, stdout], [2, ""]);
    t.match(stderr, `host-local: ${problem}`);
  }
});

test("a user who may not read it is not told that there is none", {
  skip: isRoot ? false : "Only root can call as another user.",
}, async (t) => {
  const node = nodeWithHistory(t);
  node.call("ADD", "net", "c1");
  const { exitCode, stderr } = node.tool(["history", "10.48.0.2"], withoutPrivileges(t));
  t.equal(exitCode, 2);
  t.match(stderr, /\.host-local: permission denied\n$/);
});
