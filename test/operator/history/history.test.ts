// test: each executable, one if short, acts as others
/** `history` on histories that plugins, commands and accidents have left. */

import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { type CallRecord, formatCall } from "../../../src/store/failed-calls/failed-call.ts";
import { lacking } from "../../harness/needs.ts";
import { withoutPrivileges } from "../../harness/unprivileged.ts";
import { type Node, nodeFor } from "../node.ts";

const ipam = { subnet: "198.51.100.0/24", history: true };

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

/** In milliseconds. */
const DAY = 24 * 60 * 60 * 1000;

/** Exit code and standard output of `history`, with `TIME` for the times of the last 24 hours. */
function ask(node: Node, ...words: readonly string[]): readonly [number | null, string] {
  const { exitCode, stdout } = node.tool(["history", ...words]);
  const withoutNow = stdout.replaceAll(/[\d-]+T[\d:.]+Z/g, (time) =>
    Date.now() - Date.parse(time) < DAY ? "TIME" : time,
  );
  return [exitCode, withoutNow];
}

const night = [
  "2026-01-31T01:00:00.000Z ADD 198.51.100.7 aaa eth0 default/web",
  "2026-01-31T02:58:00.000Z DEL 198.51.100.7 aaa eth0 default/web",
  "2026-01-31T02:59:30.000Z ADD 198.51.100.7 bbb eth0 kube-system/job",
  "2026-01-31T03:04:00.000Z gc 198.51.100.7 bbb eth0 -",
];

/** Time, event and container of each line of the table. */
function events(node: Node, ...words: readonly string[]): readonly string[] {
  const [, stdout] = ask(node, ...words);
  return [...stdout.matchAll(/^\S+T(\S+)Z {2}(\w+) .* (aaa|bbb) /gm)].map((found) =>
    found.slice(1).join(" "),
  );
}

test("what happened to an address is a table", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night);

  t.strictSame(ask(node, "198.51.100.7"), [
    0,
    `TIME                      EVENT  NETWORK  ADDRESS       CONTAINER  INTERFACE  POD
2026-01-31T01:00:00.000Z  ADD    net      198.51.100.7  aaa        eth0       default/web
2026-01-31T02:58:00.000Z  DEL    net      198.51.100.7  aaa        eth0       default/web
2026-01-31T02:59:30.000Z  ADD    net      198.51.100.7  bbb        eth0       kube-system/job
2026-01-31T03:04:00.000Z  gc     net      198.51.100.7  bbb        eth0       -
`,
  ]);
});

const [first, second, third, fourth] = [
  ...["01:00:00.000 ADD aaa", "02:58:00.000 DEL aaa"],
  ...["02:59:30.000 ADD bbb", "03:04:00.000 gc bbb"],
];

for (const [line, found] of [
  ["198.51.100.7", [first, second, third, fourth]],
  ["198.51.100.7/24 --since 2026-01-31T02:58", [second, third, fourth]],
  ["198.51.100.7 --since 1s", []],
  ["198.51.100.7 --at 2026-01-31T01:00:00Z", [first]],
  ["198.51.100.7 --at 2026-01-31T02:57:59Z", [first]],
  ["198.51.100.7 --at 2026-01-31T02:59Z", [second]],
  ["198.51.100.7 --at 2026-01-31T03:00", [third]],
  ["198.51.100.7 --at 1s", [fourth]],
  ["198.51.100.8", []],
  ["bb", [third, fourth]],
  ["default/web", ["00:30:00.000 ADD aaa", first, second]],
  // The last of each address.
  ["default/web --at 2026-01-31T03:00", ["00:30:00.000 ADD aaa", second]],
  // Also what does not name the pod.
  ["kube-system/job", [third, fourth]],
  ["default/we", []],
  // As show takes a name, and prints this command.
  ["web", ["00:30:00.000 ADD aaa", first, second]],
  ["job", [third, fourth]],
  ["web --at 2026-01-31T02:00", ["00:30:00.000 ADD aaa", first]],
  ["we", []],
  // Of the whole network.
  ["--since 2026-01-31T02:58", [second, third, fourth]],
  ["--at 2026-01-31T03:00", ["00:30:00.000 ADD aaa", third]],
  ["--network net", ["00:30:00.000 ADD aaa", first, second, third, fourth]],
] as const) {
  test(`history ${line}: ${found.length} events`, async (t) => {
    const node = nodeWithHistory(t);
    write(node, "2026-01-31T00:30:00.000Z ADD 2001:db8::7 aaa eth0 default/web", ...night);

    t.strictSame(events(node, ...line.split(" ")), found);
  });
}

test("without an event it says when the history begins", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night);
  const begins = "The history of net begins at 2026-01-31T01:00:00.000Z.\n";
  for (const [words, nothing] of [
    [["--at", "2026-01-30"], "No event is known at this time."],
    [["198.51.100.7", "--at", "2026-01-30"], "No event of 198.51.100.7 is known at this time."],
    [["198.51.100.8"], "No event of 198.51.100.8 is known."],
  ] as const) {
    t.strictSame(ask(node, ...words), [1, `${nothing}\n${begins}`]);
  }
});

test("a name that pods of several namespaces have, or one of podman without any, finds them all", async (t) => {
  const node = nodeWithHistory(t);
  const others = ["aac eth0 blue/web", "bbc eth0 web"];
  write(node, ...night, ...others.map((it) => `2026-01-31T04:00:00.000Z ADD 198.51.100.8 ${it}`));
  t.strictSame(events(node, "web"), [first, second]);
  t.match(ask(node, "web"), [0, / default\/web\n[\s\S]* blue\/web\n.* web\n$/]);
});

test("the history of a network that is gone, with its configuration and directory, can be asked", async (t) => {
  const node = nodeFor(t);
  write(node, ...night);

  for (const words of [["198.51.100.7"], ["198.51.100.7", "--network", "net"]]) {
    const [exitCode, stdout] = ask(node, ...words);
    t.equal(exitCode, 0);
    t.match(stdout, / ADD +net +198\.51\.100\.7 .* default\/web\n/);
  }
  t.match(node.tool(["history", "198.51.100.7", "--network", "other"]), {
    exitCode: 2,
    stderr: /unknown network "other"; known networks: net/,
  });
  t.match(node.tool(["networks"]).stdout, /^NETWORK[^\n]*\n$/, "it is no network of the node");
});

test("what the plugin and the commands do is in it", async (t) => {
  const node = nodeWithHistory(t);
  for (const id of ["c1", "c2", "c3"]) node.call("ADD", "net", id);
  node.call("DEL", "net", "c1");
  node.tool(["release", "198.51.100.3", "--yes", "--force"]);
  node.write("live", "c9");
  const live = join(node.dataDir, "live");
  node.tool(["gc", "--live", live, "--now", "--yes", "--force", "--grace=0s"]);
  node.write("net/198.51.100.5", "", 60);
  node.tool(["check", "--repair"]);

  const text = readFileSync(pathOf(node), "utf8");
  t.strictSame(text.trimEnd().replaceAll(/^\S+ /gm, "").split("\n"), [
    ...[2, 3, 4].map((at) => `ADD 198.51.100.${at} c${at - 1} eth0 -`),
    "DEL 198.51.100.2 c1 eth0 -",
    "release 198.51.100.3 c2 eth0 -",
    "gc 198.51.100.4 c3 eth0 -",
    "check 198.51.100.5 - - -",
  ]);
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

    t.equal(node.tool(["release", "198.51.100.2", "--yes", "--force"]).exitCode, 0);

    t.equal(existsSync(pathOf(node)) && readFileSync(pathOf(node), "utf8") !== "", isKept);
  }
});

test("a history that was rotated is read with the file before it", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night.slice(0, 2));
  renameSync(pathOf(node), `${pathOf(node)}.1`);
  write(node, ...night.slice(2));
  t.strictSame(events(node, "198.51.100.7"), [first, second, third, fourth]);
  rmSync(`${pathOf(node)}.1`);
  t.strictSame(events(node, "198.51.100.7"), [third, fourth]);
  rmSync(pathOf(node));
  t.strictSame(ask(node, "198.51.100.7"), [
    1,
    'No event of 198.51.100.7 is known.\nnet has no history yet: it begins with the first call after "history": true is set in the ipam configuration.\n',
  ]);
});

/** What failed in the night of `night`. */
function failures({ dataDir }: Node): readonly CallRecord[] {
  const of = (time: string, container: string, pod: string) => ({
    time: Date.parse(`2026-01-31T${time}Z`),
    ...{ network: "net", dataDir, container, interfaceName: "eth0", pod },
  });
  const full = { kind: "failed", verb: "ADD", code: 999, message: "full", details: "3 of 3" };
  return [
    { ...of("02:59:00", "ccc", "default/db"), ...full } as CallRecord,
    { ...of("03:00:00", "ddd", "default/db"), kind: "returned", verb: "DEL", after: 120 },
    { ...of("03:01:00", "eee", ""), ...full, network: "", dataDir: "" } as CallRecord,
    { ...of("03:02:00", "fff", ""), ...full, dataDir: "/elsewhere" } as CallRecord,
    { ...of("03:03:00", "ggg", ""), ...full, dataDir: "" } as CallRecord,
  ];
}

/** Keeps records as calls do. */
function keep({ runtime }: Node, records: readonly CallRecord[]): void {
  const text = records.map(formatCall).join("");
  appendFileSync(join(runtime.HOST_LOCAL_RUNTIME_DIR, "failed-calls"), text);
}

test("calls that failed, and addresses that were given back at once, are among the events", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night.slice(1));
  keep(node, failures(node));

  t.strictSame(ask(node), [
    0,
    `TIME                      EVENT         NETWORK  ADDRESS       CONTAINER  INTERFACE  POD              MESSAGE
2026-01-31T02:58:00.000Z  DEL           net      198.51.100.7  aaa        eth0       default/web
2026-01-31T02:59:00.000Z  ADD failed    net      -             ccc        eth0       default/db       full; 3 of 3
2026-01-31T02:59:30.000Z  ADD           net      198.51.100.7  bbb        eth0       kube-system/job
2026-01-31T03:00:00.000Z  DEL returned  net      -             ddd        eth0       default/db       given back 120 ms after its ADD: a plugin that comes after this one may fail
2026-01-31T03:01:00.000Z  ADD failed    -        -             eee        eth0       -                full; 3 of 3
2026-01-31T03:02:00.000Z  ADD failed    net      -             fff        eth0       -                full; 3 of 3
2026-01-31T03:03:00.000Z  ADD failed    net      -             ggg        eth0       -                full; 3 of 3
2026-01-31T03:04:00.000Z  gc            net      198.51.100.7  bbb        eth0       -
`,
  ]);
});

for (const [line, containers] of [
  ["--failed", ["ccc", "ddd", "eee", "fff", "ggg"]],
  ["--failed --network net", ["ccc", "ddd", "ggg"]],
  ["--failed --since 2026-01-31T03:00", ["ddd", "eee", "fff", "ggg"]],
  ["--failed --since 1s", []],
  ["--failed default/db", ["ccc", "ddd"]],
  ["--failed db", ["ccc", "ddd"]],
  ["--failed ee", ["eee"]],
  ["--failed 198.51.100.7", []],
  ["198.51.100.7", []],
  ["default/db", ["ccc", "ddd"]],
  ["fff", ["fff"]],
  ["--at 1s", []],
] as const) {
  test(`history ${line}: ${containers.length} failures`, async (t) => {
    const node = nodeWithHistory(t, { history: false });
    write(node, ...night);
    keep(node, failures(node));

    const [exitCode, stdout] = ask(node, ...line.split(" "));

    const found = [...stdout.matchAll(/ (?:failed|returned) .* (c{3}|d{3}|e{3}|f{3}|g{3}) /g)];
    t.strictSame(
      found.map(([, container]) => container),
      containers,
    );
    if (!line.startsWith("--failed")) return;
    t.equal(exitCode, containers.length > 0 ? 0 : 1);
    t.notMatch(stdout, "history of net", "and nothing is said of anything else");
  });
}

test("without a failure --failed says so, and whether there are some at other times", async (t) => {
  const node = nodeWithHistory(t);
  t.strictSame(ask(node, "--failed"), [1, "No failure is known.\n"]);
  keep(node, failures(node).slice(0, 2));
  const none = "No failure is known at this time.\n";
  t.strictSame(ask(node, "--failed", "--since", "1s"), [1, none]);
});

test("the document has what the runtime received", async (t) => {
  const node = nodeWithHistory(t);
  keep(node, failures(node).slice(0, 2));
  const none = { address: "", code: null, message: "", details: "" };
  const call = { network: "net", interface: "eth0", pod: "default/db" };
  t.match(node.json(["history"]).document, {
    events: [
      { ...none, ...call, kind: "failed", code: 999, message: "full", details: "3 of 3" },
      {
        ...none,
        ...call,
        kind: "returned",
        verb: "DEL",
        message: /^given back 120 ms after its ADD: /,
      },
    ],
    networks: [{ network: "net", begins: null }],
  });
});

test("what failed cannot be read: that is said, and an error if nothing else was asked for", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night);
  mkdirSync(join(node.runtime.HOST_LOCAL_RUNTIME_DIR, "failed-calls"));
  const reason = /^host-local: .*open .*\/failed-calls: invalid argument\n$/;
  t.match(node.tool(["history", "aaa"]), { exitCode: 0, stdout: " aaa ", stderr: reason });
  t.match(node.tool(["history", "--failed"]), { exitCode: 2, stdout: "", stderr: reason });
});

test("a clock that was set back leaves the order of the events", async (t) => {
  const node = nodeWithHistory(t);
  write(
    node,
    "2026-01-31T05:00:00.000Z ADD 198.51.100.7 aaa eth0 -",
    "2026-01-31T04:00:00.000Z DEL 198.51.100.7 aaa eth0 -",
  );
  t.strictSame(events(node, "198.51.100.7"), ["05:00:00.000 ADD aaa", "04:00:00.000 DEL aaa"]);
  t.strictSame(events(node, "198.51.100.7", "--at", "2026-01-31T04:30Z"), ["04:00:00.000 DEL aaa"]);
});

test("networks are told apart", async (t) => {
  const node = nodeFor(t);
  for (const name of ["one", "two"]) {
    node.network(name, ipam);
    node.call("ADD", name, "c1");
  }
  t.match(ask(node, "c1"), [0, /^.*\n.* ADD +one .*\n.* ADD +two .*\n$/]);
  t.match(ask(node, "c1", "--network", "one"), [0, /^.*\n.* ADD +one .*\n$/]);
});

test("the document has the events, and when each history begins", async (t) => {
  const node = nodeWithHistory(t);
  write(node, ...night);
  const bbb = { network: "net", address: "198.51.100.7", container: "bbb", interface: "eth0" };
  t.match(node.json(["history", "bbb"]), {
    exitCode: 0,
    document: {
      events: [
        { ...bbb, time: "2026-01-31T02:59:30.000Z", verb: "ADD", pod: "kube-system/job" },
        { ...bbb, time: "2026-01-31T03:04:00.000Z", verb: "gc", pod: "" },
      ],
      networks: [{ network: "net", begins: "2026-01-31T01:00:00.000Z" }],
    },
  });
});

test("a user who may not read it is not told that there is none", {
  skip: lacking("acts as others"),
}, async (t) => {
  const node = nodeWithHistory(t);
  node.call("ADD", "net", "c1");
  const { exitCode, stderr } = node.tool(["history", "198.51.100.2"], withoutPrivileges(t));
  t.equal(exitCode, 2);
  t.match(stderr, /\.host-local: permission denied\n$/);
});
