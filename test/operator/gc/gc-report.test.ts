/** What `gc` prints of a reservation and its document, and of what it leaves for the next run. */

import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { filesOf, location, withNetwork } from "../../store/fixtures.ts";
import { exampleOf, formOf } from "../json-examples.ts";
import { configureNet, memoryNode, remember, runOn } from "../memory-node.ts";

const MINUTE = 60_000;

/** A node with the reservations of c1 and c2, an hour old, at 13:00. */
function node(): MemoryMachine {
  const machine = memoryNode({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0", lock: "" });
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(60 * MINUTE);
  return machine;
}

/** Dates the reservation of c1 to a minute ago. */
function makeYoung({ disk, time }: MemoryMachine): void {
  disk.setModified(`${location.directory}/10.0.0.2`, BigInt(time - MINUTE) * 1_000_000n);
}

/** A namespace of which nothing tells whose it is: only the list shows who is dead. */
const strange = { processes: { 8: { namespace: 80, addresses: ["172.17.0.2"] } } };

/** What a run reports and logs, with these words of the command line and this list. */
function run(machine: MemoryMachine, words: string, list = "c2", interrupt?: Interrupt) {
  machine.disk.put("/live", list);
  const given = Object.fromEntries(
    words.split(" ").map((word) => {
      const [name = "", value = ""] = word.split("=");
      return [name, value];
    }),
  );
  const options = { "--live": "/live", ...given };
  const report = runOn(machine, gc, { options, kernel: strange, interrupt });
  const [, state = ""] = /10\.0\.0\.2 +c1 +eth0 +(.*)\n/.exec(report.text()) ?? [];
  return { ...report, state };
}

/** What the table says of c1, which the list lacks. */
const states: Readonly<Record<string, readonly [words: string, state: string]>> = {
  "a first run": ["--yes", "dead; released after 13:10 UTC, or with --now"],
  "a dry run, at once": ["--now", "dead; released with --yes"],
};

for (const [what, [words, state]] of Object.entries(states)) {
  test(`${what}: ${state.slice(0, 40)}`, async (t) => {
    t.equal(run(node(), words).state, state);
  });
}

/** What is below the table: how many there are of each kind, without those of which there are none, and what to run. */
const summaries: Readonly<Record<string, readonly [words: string, summary: string]>> = {
  "a first dry run": [
    "",
    `2 reservations: 1 alive, 1 dead
To release now: host-local gc --now --yes
Without --now, a run with --yes after 13:10 UTC releases them
`,
  ],
  "a dry run, at once": [
    "--now",
    `2 reservations: 1 alive, 1 dead
To release: host-local gc --yes
`,
  ],
  "a run, at once": [
    "--now --yes",
    `2 reservations: 1 alive, 1 dead; 1 released
`,
  ],
  "young ones, with another grace period": [
    "--now --grace=2h",
    `2 reservations: 1 alive, 1 younger than 2h (not judged until 14:00 UTC)
`,
  ],
};

for (const [what, [words, summary]] of Object.entries(summaries)) {
  test(`${what}: ${summary.split("\n")[0]}`, async (t) => {
    const text = run(node(), words).text();
    const below = text.slice(text.search(/^\d+ reservation/m));
    t.ok(below.startsWith(summary), below);
  });
}

test("what lives and is young does not contradict a list that lacks it", async (t) => {
  const machine = node();
  makeYoung(machine);
  machine.disk.put("/live", "c2\n");
  const kernel = { processes: { 7: { namespace: 70, addresses: ["10.0.0.2"] } } };
  for (const [options, counts] of [
    [{}, /: 1 alive, 1 dead/],
    [{ "--live": "/live" }, /: 1 alive, 1 younger/],
    [{ "--live": "/live", "--now": "" }, /: 1 alive, 1 younger/],
  ] as const) {
    const { text, logged } = runOn(machine, gc, { options, kernel });
    t.match(text(), counts, Object.keys(options).join(" "));
    t.notMatch(text(), "10.0.0.2", "and it is not among what is dead");
    t.equal(logged, "");
  }
});

test("a node without reservations has none", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/29");
  t.equal(runOn(machine, gc).text(), "0 reservations\n");
});

test("in a network that stays locked nothing is released, and that is logged", async (t) => {
  const machine = node();
  machine.start().lock({ file: location.lockFile, directory: location.stateDirectory, timeout: 0 });
  const { exitCode, logged, state } = run(machine, "--now --yes");
  t.equal(exitCode, 1);
  t.match(logged, "net: network net is locked");
  t.equal(state, "kept; changed in the meantime, or could not be released");
  t.ok(machine.disk.has(`${location.directory}/10.0.0.2`));
});

test("that a dead one cannot be recorded is an error: no later run would be the second", async (t) => {
  const machine = node();
  const unwritable = refuse("createFile", "ENOSPC");
  const { exitCode, logged } = run(machine, "--yes", "c2", unwritable);
  t.equal(exitCode, 1);
  t.match(logged, "net: cannot record what this run found: ");
});

test("a list that turns out wrong starts the grace period anew", async (t) => {
  const machine = node();
  const stateWith = (list: string): string => run(machine, "--yes", list).state;
  t.match(stateWith("c2"), "dead; released after");
  machine.wait(60 * MINUTE);
  t.equal(stateWith(""), "");
  t.match(stateWith("c2"), "dead; released after");
  machine.wait(9 * MINUTE);
  t.match(stateWith("c2"), "dead; released after");
  machine.wait(2 * MINUTE);
  t.equal(stateWith("c2"), "released");
});

test("the document has the form of its example, and counts for each network", async (t) => {
  const machine = memoryNode({
    "10.0.0.2": "c1\r\neth0",
    "10.0.0.3": "c2\r\neth0",
    "10.0.0.4": "c3\r\neth0",
    "10.0.0.5": "",
    "10.0.0.6": "c4\r\neth0",
  });
  configureNet(machine, "10.0.0.0/29");
  remember(machine, "c3", { netns: "/run/netns/gone" });
  machine.wait(60 * MINUTE);
  machine.disk.put("/live", "c1\n");
  const kernel = {
    processes: { 7: { namespace: 70, addresses: ["10.0.0.3"] } },
    mounted: { "/run/netns/any": 80 },
    addresses: { 80: ["172.17.0.2"] },
  };

  const document = runOn(machine, gc, { options: { "--live": "/live" }, kernel }).document();

  t.same(formOf(document), formOf(exampleOf("gc")));
  const about = { network: "net", interface: "eth0" };
  t.match(document, {
    dryRun: true,
    networks: [
      {
        ...{ network: "net", directory: "/data/net", refused: /lacks a running container/ },
        ...{ alive: 2, unknown: 1, unowned: 1, young: 0 },
        ...{ waiting: 1, due: 0, released: 0 },
      },
    ],
    dead: [
      {
        ...about,
        address: "10.0.0.4",
        container: "c3",
        since: "2026-01-31T12:00:00.000Z",
        seenDeadSince: "2026-01-31T13:00:00.000Z",
        releasableAfter: "2026-01-31T13:10:00.000Z",
        state: "waiting",
        alive: false,
        reason: "its network namespace /run/netns/gone is gone",
        path: "/data/net/10.0.0.4",
      },
    ],
    undecided: [{ ...about, address: "10.0.0.6", container: "c4", alive: null }],
  });
});

test("gc --yes, where nothing is dead: what is left of temporary files of killed calls", async (t) => {
  const machine = node();
  machine.disk.put(`${location.directory}/.host-local-1-0`, "");
  machine.wait(61_000);
  machine.disk.put(`${location.directory}/.host-local-2-0`, "");

  run(machine, "--yes", "c1\nc2");

  t.same(Object.keys(filesOf(machine)), [".host-local-2-0", "10.0.0.2", "10.0.0.3", "lock"]);
});

test("gc makes no directory for a network that has none", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/29");
  machine.disk.makeDirectories(location.temporaryDirectory);
  machine.disk.put(`${location.temporaryDirectory}/1.0`, "");
  machine.disk.removeDirectory(location.directory);
  machine.wait(61_000);

  runOn(machine, gc, { options: { "--yes": "" } });

  t.notOk(machine.disk.has(location.directory));
});
