import { test } from "tap";
import { makeExclusions } from "../../../src/ipam/exclusions.ts";
import type { RangeSet } from "../../../src/ipam/range-set.ts";
import { allIn, readAll } from "../../../src/store/reservations/directory-scan.ts";
import { listReservations } from "../../../src/store/reservations/reservation-file.ts";
import {
  countUsage,
  describeUsage,
  isExhausted,
  type RangeUsage,
  reclaimableAt,
  unownedIn,
  usageOf,
} from "../../../src/store/reservations/usage.ts";
import type { System } from "../../../src/system/system.ts";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { address } from "../../ipam/parsed.ts";
import { machineWith, OPENING, open, rangeSet } from "../fixtures.ts";

const set = rangeSet("10.0.0.0/29", "10.0.1.0/30");

function usage(machine: MemoryMachine, of: RangeSet = set): readonly RangeUsage[] {
  return usageOf(of, [], listReservations(open(machine.start())));
}

function counts(found: readonly RangeUsage[]): readonly string[] {
  return found.map(({ used, capacity }) => `${used}/${capacity}`);
}

test("reservations are counted per range, whatever they contain", (t) => {
  const machine = machineWith({ "10.0.0.2": "", "10.0.0.3": "c1", "10.0.1.2": "", "10.9.9.9": "" });

  t.same(counts(usage(machine)), ["2/5", "1/1"]);
  t.end();
});

test("names are counted without a list of them, as reservations are", (t) => {
  const machine = machineWith({ "10.0.0.2": "", "10.0.0.3": "c1", "10.0.1.2": "", lock: "" });
  const process = machine.start();
  const files = open(process);

  t.same(countUsage(files, set, []), usage(machine));
  t.same(
    process.calls.slice(OPENING).map(({ operation }) => operation),
    ["listAddresses"],
  );
  t.end();
});

test("a gateway and an excluded address count neither as used nor as capacity", (t) => {
  const machine = machineWith({ "10.0.0.1": "", "10.0.0.4": "", "10.0.0.5": "" });
  const two = makeExclusions([{ first: address("10.0.0.3"), last: address("10.0.0.4") }]);

  const files = open(machine.start());
  t.same(counts(usageOf(set, two, listReservations(files))), ["1/3", "0/1"]);
  t.same(counts(countUsage(files, set, two)), ["1/3", "0/1"]);
  t.end();
});

test("a large IPv6 range is counted exactly", (t) => {
  const machine = machineWith({ "2001:db8::5": "" });

  t.same(counts(usage(machine, rangeSet("2001:db8::/64"))), ["1/18446744073709551614"]);
  t.end();
});

test("a set is exhausted if every range is full", (t) => {
  const full = { "10.0.0.2": "", "10.0.0.3": "", "10.0.0.4": "", "10.0.0.5": "", "10.0.0.6": "" };

  t.equal(isExhausted(usage(machineWith(full))), false);
  t.equal(isExhausted(usage(machineWith({ ...full, "10.0.1.2": "" }))), true);
  t.end();
});

test("usage is described by counts and by what to look at next", (t) => {
  const machine = machineWith({ "10.0.0.2": "", "10.0.1.2": "" });

  const text = describeUsage(usage(machine), 0, open(machine.start()), "Next: look.");

  t.equal(
    text,
    "10.0.0.1-10.0.0.6: 1 of 5 addresses in use; 10.0.1.1-10.0.1.2: 1 of 1 address in use; reservations are in /data/net. Next: look.",
  );
  t.match(
    describeUsage(usage(machine), 2, open(machine.start()), ""),
    "2 of them by files that name no container",
  );
  t.end();
});

test("unowned are files of the set that name no container or cannot be read", (t) => {
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
  t.end();
});

const exclusions = makeExclusions([{ first: address("10.0.0.6"), last: address("10.0.0.6") }]);

/** Which of the files may be reclaimed, where some calls fail. */
function reclaimable(machine: MemoryMachine, interrupt?: Interrupt): readonly string[] {
  const system = machine.start({ interrupt });
  return listReservations(open(machine.start()))
    .filter((one) => reclaimableAt(open(system), { set, exclusions }, one) !== undefined)
    .map(({ name }) => name);
}

test("reclaimableAt finds empty files of the set that are older than ten seconds", (t) => {
  const machine = machineWith({ "10.0.0.2": "", "10.0.1.2": "\0 \r\n", "10.9.9.9": "" });
  t.same(reclaimable(machine), []);

  machine.wait(10_000);
  t.same(reclaimable(machine), []);

  machine.wait(1);
  t.same(reclaimable(machine), ["10.0.0.2", "10.0.1.2"]);
  t.end();
});

test("reclaimableAt answers with the range of the address", (t) => {
  const machine = machineWith({ "10.0.1.2": "" });
  machine.wait(60_000);
  const [reservation] = listReservations(open(machine.start()));
  if (reservation === undefined) throw new Error("there is none");

  t.equal(reclaimableAt(open(machine.start()), { set, exclusions }, reservation)?.range, set[1]);
  t.end();
});

test("an empty file at an address that is never handed out is not reclaimed", (t) => {
  const machine = machineWith({ "10.0.0.1": "", "10.0.0.6": "", "10.0.1.1": "" });
  machine.wait(60_000);

  t.same(reclaimable(machine), []);
  t.end();
});

test("garbage is not reclaimed, however old: it may keep an address from being used", (t) => {
  const machine = machineWith({ "10.0.0.2": "cut o\r", "10.0.0.3": "keep out", "10.0.0.4": "-" });
  machine.wait(365 * 86_400_000);

  t.same(reclaimable(machine), []);
  t.end();
});

test("a file that names a container is not reclaimed, however old", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c1", "10.0.0.4": " c1\n" });
  machine.wait(365 * 86_400_000);

  t.same(reclaimable(machine), []);
  t.end();
});

test("a file that cannot be read is not reclaimed, since it may be a reservation", (t) => {
  const machine = machineWith({ "10.0.0.2": "" });
  machine.wait(60_000);

  t.same(reclaimable(machine, refuse("readFile", "EIO", "/data/net/10.0.0.2")), []);
  t.same(reclaimable(machine), ["10.0.0.2"]);
  t.end();
});

test("a directory, a FIFO or a symbolic link is not reclaimed", (t) => {
  const machine = machineWith();
  machine.disk.putLink("/data/net/10.0.0.4", "empty");
  machine.disk.makeDirectories("/data/net/10.0.0.2");
  machine.disk.putOther("/data/net/10.0.0.3");
  machine.wait(60_000);

  t.same(reclaimable(machine), []);
  t.end();
});

test("a file whose age is unknown is not reclaimed", (t) => {
  const machine = machineWith({ "10.0.0.2": "" });
  machine.wait(60_000);

  t.same(reclaimable(machine, refuse("linkStatus", "EACCES")), []);
  t.end();
});
