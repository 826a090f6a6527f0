import { test } from "tap";
import type { NetworkFiles } from "../../../src/store/files/network-files.ts";
import {
  type HistoryCall,
  hasHistory,
  keepHistory,
  readHistory,
} from "../../../src/store/history/history-file.ts";
import type { Change } from "../../../src/store/history/history-record.ts";
import { parseOwner } from "../../../src/store/reservations/owner.ts";
import { type Interrupt, pauseAt, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { attachment, location, machineWith, OPENING, open } from "../fixtures.ts";

const MAX = 4096;
const path = `${location.stateDirectory}/history`;

function call(changed: Partial<HistoryCall> = {}): HistoryCall {
  return { maxBytes: MAX, verb: "ADD", pod: "default/web", ...changed };
}

function change(kind: Change["kind"], name: string, container = "c1"): Change {
  return { kind, name, owner: { kind: "attachment", ...attachment(container) } };
}

/** Keeps changes as a call does under the lock; returns what it says on standard error. */
function keep(
  files: NetworkFiles,
  changes: readonly Change[],
  { isLocked = true, ...changed }: Partial<HistoryCall> & { isLocked?: boolean } = {},
): string {
  return keepHistory(files, call(changed), changes, isLocked) ?? "";
}

/** What the history tells, in short. */
function told(machine: MemoryMachine): readonly string[] | undefined {
  return readHistory(open(machine.start()))?.map(({ verb, address, container, pod }) =>
    `${verb} ${address} ${container} ${pod}`.trimEnd(),
  );
}

test("each change is a line, in a file for root alone", async (t) => {
  const machine = machineWith();
  t.equal(told(machine), undefined);
  t.equal(hasHistory(open(machine.start())), false);

  keep(open(machine.start()), [change("reserved", "10.0.0.2"), change("reserved", "fd00::2")]);
  machine.wait(5000);
  keep(open(machine.start()), [change("released", "10.0.0.2")], { verb: "DEL" });

  t.equal(
    machine.disk.readFile(path, 1000),
    `2026-01-31T12:00:00.000Z ADD 10.0.0.2 c1 eth0 default/web
2026-01-31T12:00:00.000Z ADD fd00::2 c1 eth0 default/web
2026-01-31T12:00:05.000Z DEL 10.0.0.2 c1 eth0 default/web
`,
  );
  t.equal(machine.disk.modeOf(path), 0o600);
  t.equal(hasHistory(open(machine.start())), true);
});

test("of what was reserved and released again only the rest is told, also of one attachment", async (t) => {
  const machine = machineWith();
  const process = machine.start();
  const again = [change("reserved", "10.0.0.2"), change("released", "10.0.0.2")];

  keep(open(process), []);
  keep(open(process), again);
  t.notOk(process.calls.some(({ operation }) => operation !== "permissions"));

  const legacy = { kind: "released", name: "10.0.0.3", owner: parseOwner("legacy") } as const;
  keep(open(machine.start()), [change("reserved", "fd00::2"), ...again, legacy]);
  t.same(told(machine), ["ADD fd00::2 c1 default/web", "RECLAIM 10.0.0.3 legacy"]);
});

test("a history of the greatest length is not rotated; lines of one call stay together", async (t) => {
  const machine = machineWith();
  keep(open(machine.start()), [change("reserved", "10.0.0.2")]);
  const { size } = machine.disk.status(path);
  const two = [change("released", "10.0.0.4"), change("released", "10.0.0.5")];
  for (const [changes, rotates] of [
    [[change("reserved", "10.0.0.3")], false],
    [two, true],
  ] as const) {
    keep(open(machine.start()), changes, { maxBytes: 2 * size });
    t.equal(machine.disk.has(`${location.stateDirectory}/history.1`), rotates);
  }
  t.equal(told(machine)?.length, 4);
});

test("a history that cannot be kept is one line on standard error", async (t) => {
  const cases: readonly (readonly [
    reason: string,
    put: (machine: MemoryMachine) => void,
    refused?: Interrupt,
  ])[] = [
    [
      `open ${path}: too many levels of symbolic links`,
      ({ disk }) => disk.putLink(path, "/etc/passwd"),
    ],
    [`open ${path}: is a directory`, ({ disk }) => disk.makeDirectories(path)],
    [`open ${path}: no space left on device`, () => {}, refuse("createFile", "ENOSPC")],
    [
      `open ${path}: not a directory`,
      ({ disk }) => disk.putLink("/data/.host-local", "/elsewhere"),
    ],
  ];
  const words = (reason: string): string =>
    `host-local: this call is missing in the history: ${reason}\n`;
  for (const [reason, put, interrupt] of cases) {
    const machine = machineWith();
    put(machine);
    const said = keep(open(machine.start({ interrupt })), [change("reserved", "10.0.0.2")]);
    t.equal(said, words(reason));
  }
  const unlocked = open(machineWith().start());
  t.equal(
    keep(unlocked, [change("released", "10.0.0.2")], { isLocked: false }),
    words("lock /data/net/lock: resource temporarily unavailable"),
  );
});

test("a reader never misses a file that is rotated while it reads", async (t) => {
  const prepare = (): MemoryMachine => {
    const machine = machineWith();
    for (let at = 0; at < 150; at++) {
      keep(open(machine.start()), [change("reserved", `10.0.1.${at}`)]);
    }
    // The next line rotates it.
    const { disk } = machine;
    disk.write(path, `${disk.readFile(path, MAX)}${"\n".repeat(MAX - disk.status(path).size)}`);
    return machine;
  };
  const undisturbed = prepare().start();
  readHistory(open(undisturbed));
  t.ok(undisturbed.calls.length >= OPENING + 5);

  for (const { number } of undisturbed.calls) {
    const machine = prepare();
    const before = told(machine) ?? [];
    const interrupt = pauseAt(number, () =>
      keep(open(machine.start()), [change("reserved", "10.0.2.1")]),
    );

    const read = readHistory(open(machine.start({ interrupt }))) ?? [];

    const addresses = read.map(({ address }) => address);
    const last = before.at(-1)?.split(" ")[1] ?? "";
    t.ok(addresses.includes(last), `${number}: the line before is there`);
    t.equal(new Set(addresses).size, addresses.length, `${number}: no line twice`);
  }
});

test("nothing is read through a link, and what may not be read is an error", async (t) => {
  const machine = machineWith();
  machine.disk.put("/elsewhere", "");
  machine.disk.putLink(path, "/elsewhere");
  t.equal(told(machine), undefined);
  t.equal(hasHistory(open(machine.start())), false);
  machine.disk.unlink(path);
  machine.disk.makeDirectories(path);
  t.equal(told(machine), undefined);

  const gone = machine.start({ interrupt: refuse("readFile", "ENOENT", path) });
  machine.disk.removeDirectory(path);
  keep(open(machine.start()), [change("reserved", "10.0.0.2")]);
  t.equal(readHistory(open(gone)), undefined, "what is removed meanwhile");

  const unused = machineWith();
  unused.disk.putLink(location.temporaryDirectory, "/elsewhere");
  t.equal(told(unused), undefined);
  t.equal(hasHistory(open(unused.start())), false);

  const refused = machine.start({ interrupt: refuse("linkStatus", "EACCES") });
  t.throws(() => readHistory(open(refused)), { code: "EACCES" });
});
