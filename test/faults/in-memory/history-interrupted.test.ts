// test: own process
/**
 * A call that is killed at any system call, or to which the machine refuses one, leaves a history that is true: each line
 * tells what happened, and at most those of this call are missing. No call fails because of it.
 */

import { test } from "tap";
import {
  formatRecord,
  type HistoryRecord,
  parseRecords,
} from "../../../src/store/history/history-record.ts";
import { failAt, type Interrupt, refuse, stopAt } from "../../harness/interruption.ts";
import { DATA_DIRECTORY, MemoryMachine } from "../../harness/memory-machine.ts";
import { type Answer, type CallOptions, Network } from "../../harness/network.ts";

const PATH = `${DATA_DIRECTORY}/.host-local/net/history`;

const MAX_BYTES = 4096;

const dualStack = { ranges: [[{ subnet: "10.0.0.0/29" }], [{ subnet: "2001:db8::/125" }]] };

/** A call, and the network before it. */
interface Scenario {
  readonly name: string;
  readonly prepare: () => Network;
  readonly act: (network: Network, options: CallOptions) => Answer;
}

function inhabited(): Network {
  const network = new Network(new MemoryMachine(), {
    ...dualStack,
    history: { maxBytes: MAX_BYTES },
  });
  network.add("neighbour");
  network.add("victim");
  return network;
}

/** The next line rotates the history. */
function nearlyFull(): Network {
  const network = inhabited();
  const { disk, time } = network.machine;
  let text = disk.readFile(PATH, MAX_BYTES);
  for (let at = 0; text.length < MAX_BYTES - 200; at++) {
    const own = { address: `10.9.0.${at}`, container: "earlier", interfaceName: "eth0", pod: "" };
    text += formatRecord({ ...own, time, verb: "DEL", caller: "" });
  }
  disk.write(PATH, text);
  network.add("another");
  return network;
}

function withEmptyFiles(): Network {
  const network = inhabited();
  for (const last of [4, 5, 6]) network.put(`10.0.0.${last}`, "");
  network.machine.wait(60_000);
  return network;
}

const add = (network: Network, options: CallOptions): Answer => network.add("new", options);
const del = (network: Network, options: CallOptions): Answer => network.del("victim", options);

const scenarios: readonly Scenario[] = [
  {
    name: "the first ADD",
    prepare: () => new Network(new MemoryMachine(), { ...dualStack, history: true }),
    act: add,
  },
  { name: "ADD", prepare: inhabited, act: add },
  { name: "ADD that rotates the history", prepare: nearlyFull, act: add },
  { name: "ADD that reuses an empty file", prepare: withEmptyFiles, act: add },
  { name: "DEL", prepare: inhabited, act: del },
  { name: "DEL that rotates the history", prepare: nearlyFull, act: del },
  {
    name: "GC",
    prepare: inhabited,
    act: (network, options) => network.gc(["neighbour eth0"], options),
  },
];

/** The files of the history, the older one first. */
function records({ machine: { disk } }: Network): readonly HistoryRecord[] {
  return [`${PATH}.1`, PATH].flatMap((path) =>
    disk.has(path) ? parseRecords(disk.readFile(path, 1e6)) : [],
  );
}

function textOf({ verb, address, container }: HistoryRecord): string {
  return `${verb} ${address} ${container}`;
}

/** Which promises the history has broken after a call that was interrupted. */
function brokenPromises(network: Network, before: readonly HistoryRecord[]): readonly string[] {
  const broken: string[] = [];
  const reserved = network.reservations();
  const after = records(network);
  for (const [at, record] of before.entries()) {
    if (JSON.stringify(after[at]) !== JSON.stringify(record)) broken.push(`lost ${textOf(record)}`);
  }
  for (const [at, record] of after.entries()) {
    const { verb, address, container } = record;
    // An ADD that is undone has two lines.
    if (at < before.length || after.findLastIndex((one) => one.address === address) > at) continue;
    const isHeld = reserved[address]?.startsWith(`${container}\r\n`) === true;
    const isTrue = verb === "RECLAIM" ? reserved[address] !== "" : isHeld === (verb === "ADD");
    if (!isTrue) broken.push(`false ${textOf(record)}`);
  }
  // What an undone or killed call has left is released by its DEL, and later lines are read.
  network.machine.wait(1000);
  network.gc(["neighbour eth0"]);
  const { addresses } = network.add("later");
  const told = records(network).map(textOf);
  for (const address of addresses) {
    const text = `ADD ${address} later`;
    if (!told.includes(text)) broken.push(`lacks ${text}`);
  }
  if (addresses.length !== 2) broken.push("a later ADD works");
  return broken;
}

for (const { name, prepare, act } of scenarios) {
  const undisturbed = act(prepare(), {});

  test(`${name} may be killed at any system call: no line is false`, (t) => {
    const stops: (readonly [string, Interrupt])[] = undisturbed.calls.flatMap(
      ({ number, operation, path }) =>
        [undefined, 0.5, 0.9]
          .filter((part) => part === undefined || /^(?:createFile|extendFile)$/.test(operation))
          .map((part) => [`${operation} ${path} ${part ?? ""}`, stopAt(number, part)] as const),
    );
    t.ok(stops.some(([where]) => where.endsWith(`${PATH} 0.5`)));
    for (const [where, interrupt] of stops) {
      const network = prepare();
      const before = records(network);

      act(network, { interrupt });

      t.strictSame(brokenPromises(network, before), [], where);
    }
    t.end();
  });

  test(`${name} may meet an error at any system call: no line is false`, (t) => {
    for (const { number, operation, path } of undisturbed.calls) {
      for (const code of ["EIO", "ENOSPC"]) {
        const network = prepare();
        const before = records(network);

        act(network, { interrupt: failAt(number, code) });

        t.strictSame(brokenPromises(network, before), [], `${operation} ${path} ${code}`);
      }
    }
    t.end();
  });

  test(`${name} bears every error at its history: it succeeds, and says so in a line`, (t) => {
    const own = undisturbed.calls.filter(({ path }) => path.startsWith(PATH));
    t.ok(own.length >= 2);
    for (const { number, operation, path } of own) {
      for (const code of ["ENOSPC", "EROFS", "EACCES", "EIO", "ELOOP"]) {
        const network = prepare();
        const before = records(network);

        const answer = act(network, { interrupt: failAt(number, code) });

        const where = `${operation} ${path} ${code}`;
        t.equal(answer.exitCode, 0, where);
        t.equal(answer.stdout, undisturbed.stdout, where);
        t.match(answer.stderr, /^host-local: this call is missing in the history: .*\n$/, where);
        t.strictSame(brokenPromises(network, before), [], where);
      }
    }
    t.end();
  });

  test(`${name} succeeds without /proc, and its caller is not known`, (t) => {
    const network = prepare();
    const { length } = records(network);

    const answer = act(network, {
      interrupt: refuse("readFile", "EACCES", "/proc/7/stat"),
      processId: 7,
    });

    t.equal(answer.exitCode, 0);
    t.notMatch(answer.stderr, "history");
    t.match(records(network).slice(length), [{ caller: "" }]);
    t.end();
  });
}
