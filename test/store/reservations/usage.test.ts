import { test } from "tap";
import { makeExclusions } from "../../../src/ipam/exclusions.ts";
import { allIn, readAll } from "../../../src/store/reservations/directory-scan.ts";
import { listReservations } from "../../../src/store/reservations/reservation-file.ts";
import {
  countUsage,
  describeUsage,
  type RangeUsage,
  removableAt,
  unownedIn,
  usageOf,
} from "../../../src/store/reservations/usage.ts";
import type { System } from "../../../src/system/system.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { address } from "../../ipam/parsed.ts";
import { machineWith, open, rangeSet } from "../fixtures.ts";

const set = rangeSet("10.0.0.0/29", "10.0.1.0/30");

function counts(found: readonly RangeUsage[]): readonly string[] {
  return found.map(({ used, capacity }) => `${used}/${capacity}`);
}

test("a gateway and an excluded address count neither as used nor as capacity", async (t) => {
  const machine = machineWith({ "10.0.0.1": "", "10.0.0.4": "", "10.0.0.5": "" });
  const two = makeExclusions([{ first: address("10.0.0.3"), last: address("10.0.0.4") }]);

  const files = open(machine.start());
  t.same(counts(usageOf(set, two, listReservations(files))), ["1/3", "0/1"]);
  t.same(counts(countUsage(files, set, two)), ["1/3", "0/1"]);
});

test("usage is described by counts, and where reservations are", async (t) => {
  const machine = machineWith({ "10.0.0.2": "", "10.0.1.2": "" });

  const files = open(machine.start());
  const usage = countUsage(files, set, []);
  const text = describeUsage(usage, [], files);

  t.equal(
    text,
    "10.0.0.1-10.0.0.6: 1 of 5 addresses in use; 10.0.1.1-10.0.1.2: 1 of 1 address in use; reservations are in /data/net",
  );
  const unowned = unownedIn(set, allIn(readAll(files)));
  t.match(
    describeUsage(usage, unowned, files),
    "in use; 2 of them by files that name no container;",
  );
  const without = machine.start({ interrupt: refuse("readFile", "EMFILE", "/data/net/10.0.1.2") });
  const some = unownedIn(set, allIn(readAll(open(without))));
  t.match(
    describeUsage(usage, some, files),
    /; 1 of them by files that name no container; 1 of them cannot be read \(open .*too many open files\);/,
  );
});

test("unowned are files of the set that name no container or cannot be read", async (t) => {
  const machine = machineWith({
    "10.0.0.2": "c1\r\neth0",
    "10.0.0.3": "",
    "10.0.1.2": "some garbage",
    "10.9.9.9": "",
    "10.0.0.4": "c1\r\neth0",
  });
  const system = machine.start({ interrupt: refuse("readFile", "EIO", "/data/net/10.0.0.4") });

  const unowned = (of: System): readonly string[] =>
    unownedIn(set, allIn(readAll(open(of)))).map(({ name }) => name);
  t.same(unowned(system), ["10.0.0.3", "10.0.0.4", "10.0.1.2"]);
  t.same(unowned(machine.start()), ["10.0.0.3", "10.0.1.2"]);
});

const exclusions = makeExclusions([{ first: address("10.0.0.6"), last: address("10.0.0.6") }]);

/** Which of the files may be reclaimed. */
function reclaimable(machine: MemoryMachine): readonly string[] {
  const files = open(machine.start());
  return listReservations(files)
    .filter((one) => removableAt(files, { set, exclusions }, one) !== undefined)
    .map(({ name }) => name);
}

test("removableAt finds empty files of the set that are older than ten seconds", async (t) => {
  const machine = machineWith({ "10.0.0.2": "", "10.0.1.2": "\0 \r\n", "10.9.9.9": "" });
  t.same(reclaimable(machine), []);

  machine.wait(9_999);
  t.same(reclaimable(machine), []);

  machine.wait(1);
  t.same(reclaimable(machine), ["10.0.0.2", "10.0.1.2"]);
});

test("garbage, a directory, a FIFO or a link is not reclaimed, however old: it may be meant", async (t) => {
  const machine = machineWith({ "10.0.0.2": "cut o\r", "10.0.1.2": "-" });
  machine.disk.makeDirectories("/data/net/10.0.0.3");
  machine.disk.putOther("/data/net/10.0.0.4");
  machine.disk.putLink("/data/net/10.0.0.5", "empty");
  machine.wait(365 * 86_400_000);

  t.same(reclaimable(machine), []);
});
