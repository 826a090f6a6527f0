/** Which calls fail now: by what has failed, and by what ADDs and DELs that succeeded have left. */

import { test } from "tap";
import {
  callsByNetwork,
  cursorsMoved,
  endingContainers,
  failingAdds,
  failingDels,
  givenBack,
  lastAddOf,
  mayBeOwnRequest,
  whyOver,
} from "../../../src/operator/judgements/calls.ts";
import type { SetAhead } from "../../../src/operator/judgements/next-add.ts";
import type {
  CallRecord,
  FailedCall,
  ReturnedAddress,
} from "../../../src/store/failed-calls/failed-call.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { attachment } from "../../store/fixtures.ts";
import { directoryOn } from "../held/reservation.ts";
import { startOperator } from "../memory-node.ts";

const SECOND = 1000;

type Next = Parameters<typeof whyOver>[1];

const common = {
  ...{ network: "net", dataDir: "/data", container: "c1", interfaceName: "eth0", pod: "" },
} as const;

/** A call that failed at a second. */
function failed(at: number, verb: FailedCall["verb"] = "ADD", container = "c1"): FailedCall {
  const error = { code: 999, message: `at ${at}`, details: "" };
  return { ...common, kind: "failed", verb, container, time: at * SECOND, ...error };
}

/** A pod that gave its address back at a second. */
function returned(at: number): ReturnedAddress {
  return { ...common, kind: "returned", verb: "DEL", time: at * SECOND, after: 200 };
}

/** The reservations of ADDs at these seconds, of containers of these names. */
function reserved(...seconds: readonly number[]) {
  return seconds.map((at) => ({ since: at * SECOND }));
}

function cursorAt(second: number | undefined): number | undefined {
  return second === undefined ? undefined : second * SECOND;
}

for (const [what, cursor, reservations, expected] of [
  ["nothing", undefined, [], undefined],
  ["a cursor, whose pod has gone", 5, [], 5],
  ["a reservation, whose cursor was deleted", undefined, [3, 7, 4], 7],
  ["a cursor that is newer", 9, [7], 9],
  ["a reservation that is newer: a pod's own address moves no cursor", 7, [9], 9],
  ["what is dated ahead, since the clock was set back", 200, [5, 300], 5],
] as const) {
  test(`the last ADD, by ${what}: ${expected}`, async (t) => {
    const traces = { cursor: cursorAt(cursor), reservations: reserved(...reservations) };
    t.equal(lastAddOf(traces, 100 * SECOND), cursorAt(expected));
  });
}

/** A configuration with so many range sets. */
function withSets(sets: number, more: object = {}) {
  const rangeSets = Array.from({ length: sets }, () => []);
  return { reserves: true, acceptsRuntimeRanges: false, rangeSets, ...more };
}

const [one, two] = [withSets(1), withSets(2)];
const runtimeRanges = withSets(1, { acceptsRuntimeRanges: true });

for (const [what, networks, cursors, expected] of [
  ["there is none", [two], {}, undefined],
  ["an ADD moved both", [two], { 0: 5, 1: 5 }, 5],
  ["one that failed in the second set moved the first", [two], { 0: 9, 1: 5 }, 5],
  ["the second is not there: the set is new, or the file was deleted", [two], { 0: 9 }, 9],
  ["the network had a second set", [one], { 0: 9, 1: 5 }, 9],
  ["another configuration has only the first set", [one, two], { 0: 9, 1: 5 }, 9],
  ["the runtime supplies sets before it", [runtimeRanges], { 0: 9, 1: 5 }, 9],
  ["its ranges are not known", [withSets(0)], { 0: 9, 1: 5 }, 9],
  ["another entry is for GC alone", [two, withSets(0, { reserves: false })], { 0: 9, 1: 5 }, 5],
  ["nothing configures it", [withSets(0, { reserves: false })], { 0: 9, 1: 5 }, 9],
] as const) {
  test(`the cursors were last moved, where ${what}: ${expected}`, async (t) => {
    const dates = Object.entries(cursors).map(([index, at]) => [Number(index), at] as const);
    t.equal(cursorsMoved(new Map(dates), networks), expected);
  });
}

for (const [what, records, lastAdd, expected] of [
  ["none has failed", [], 5, undefined],
  ["none has succeeded", [failed(6), failed(7)], undefined, "2 since 6, the last at 7"],
  ["one has succeeded since", [failed(6), failed(7)], 8, undefined],
  [
    "one has succeeded in between",
    [failed(4), failed(6), failed(9)],
    5,
    "2 since 6, the last at 9",
  ],
  ["it had moved the cursor when it failed", [failed(5)], 5, "1 since 5, the last at 5"],
  ["other calls have failed", [failed(6, "DEL"), failed(7, "CHECK"), returned(8)], 5, undefined],
] as const satisfies readonly (readonly [string, readonly CallRecord[], ...unknown[]])[]) {
  test(`ADD fails, where ${what}: ${expected ?? "no"}`, async (t) => {
    const found = failingAdds(records, cursorAt(lastAdd));
    t.equal(
      found && `${found.count} since ${found.since / SECOND}, the last ${found.last.message}`,
      expected,
    );
  });
}

const [pod, sandbox] = [{ pod: "default/db" }, { container: "c2" }];

for (const [what, records, expected] of [
  ["one, in the same sandbox", [failed(6), failed(7)], ["c1"]],
  [
    "one, in another sandbox each time",
    [
      { ...failed(6), ...pod },
      { ...failed(7), ...pod, ...sandbox },
    ],
    ["default/db"],
  ],
  ["two", [{ ...failed(6), ...pod }, failed(7)], ["default/db", "c1"]],
  ["two, of which one has its address now", [failed(4, "ADD", "c2"), failed(6)], ["c1"]],
  ["none that is named", [failed(6, "ADD", "")], [""]],
] as const) {
  test(`the ADDs that fail are of pods: ${what}`, async (t) => {
    const pods = failingAdds(records, 5 * SECOND)?.ofPods.map((call) => call.pod || call.container);
    t.same(pods, expected);
  });
}

const free = { failure: undefined, sets: [{ kind: "free" }] as SetAhead[] };
const outOfRange = { code: 999, message: "10.9.9.9 not in range set 10.1.2.1-10.1.2.14" };
const cursor = "open /data/net/last_reserved_ip.0: operation not permitted";

for (const [what, error, next, expected] of [
  ["it asks for an address out of range", outOfRange, [free], true],
  ["its name has no address", outOfRange, [{ ...free, sets: [{ kind: "reserved" }] }], true],
  ["its arguments are invalid", { code: 4 }, [free], true],
  [
    "the range is full",
    outOfRange,
    [{ ...free, sets: [{ kind: "free" }, { kind: "full" }] }],
    false,
  ],
  ["the range has no address", outOfRange, [{ ...free, sets: [{ kind: "empty" }] }], false],
  ["every ADD fails", outOfRange, [free, { failure: "read-only", sets: [] }], false],
  ["what the next ADD comes to is not known", outOfRange, [], false],
  ["the lock is held", { code: 11 }, [free], false],
  ["the result was not read", { code: 5 }, [free], false],
  ["the system refuses", { code: 999, message: cursor }, [free], false],
  [
    "the system refuses, by the details",
    { code: 999, message: "cursor", details: cursor },
    [free],
    false,
  ],
] as const) {
  test(`the request of the one pod whose ADD fails may be the cause, where ${what}: ${expected}`, async (t) => {
    const last = { ...failed(6), ...error };
    const failing = { since: 6, count: 1, last, ofPods: [last] };
    t.equal(mayBeOwnRequest(failing, next as Next), expected);
    t.equal(mayBeOwnRequest({ ...failing, ofPods: [last, failed(7)] }, next as Next), false);
    const unnamed = [failed(7, "ADD", "")];
    t.equal(mayBeOwnRequest({ ...failing, ofPods: unnamed }, next as Next), false);
  });
}

const full = {
  code: 999,
  message:
    "failed to allocate for range 0: no IP addresses available in range set: 10.1.2.1-10.1.2.6",
};

for (const [what, error, next, changed, expected] of [
  ["an address is free again", full, [free], undefined, "an address is free now"],
  ["none is", full, [{ ...free, sets: [{ kind: "full" }] }], 9, undefined],
  [
    "one of two sets is full",
    full,
    [{ ...free, sets: [{ kind: "free" }, { kind: "full" }] }],
    9,
    undefined,
  ],
  ["every ADD fails", full, [{ failure: "read-only", sets: [] }], 9, undefined],
  ["every ADD of one configuration fails", full, [free, { failure: "x", sets: [] }], 9, undefined],
  ["its file is of that moment", outOfRange, [free], 6, undefined],
  ["that is not known", full, [{ ...free, doubt: "permission denied" }], 9, undefined],
  ["nothing tells", full, [], 9, undefined],
  ["its file was corrected", outOfRange, [free], 9, "its configuration was changed since"],
  ["its file is from before", outOfRange, [free], 5, undefined],
  ["it has none", outOfRange, [free], undefined, undefined],
] as const) {
  test(`the next ADD is not to fail as the last one did, where ${what}: ${expected ?? "no"}`, async (t) => {
    const last = { ...failed(6), ...error };
    const time = changed === undefined ? undefined : changed * SECOND;
    t.equal(whyOver({ since: 6, count: 1, last, ofPods: [last] }, next as Next, time), expected);
  });
}

test("a DEL that failed before the ADD of the same container says nothing of that", async (t) => {
  const held = (since: number) => ({
    owner: { kind: "attachment", ...attachment("c1") } as const,
    since: since * SECOND,
  });
  t.equal(failingDels([failed(5, "DEL")], [held(3)])?.count, 1);
  t.equal(failingDels([failed(5, "DEL")], [held(7)]), undefined);
});

test("a container whose DEL has failed is ending", async (t) => {
  t.same(endingContainers([failed(5), failed(6, "DEL", "c2")]), new Set(["c2"]));
});

for (const [what, records, holders, expected] of [
  ["its container still holds the address", [failed(5, "DEL"), failed(8, "DEL")], ["c1"], 2],
  ["a later DEL has released it", [failed(5, "DEL")], [], undefined],
  ["one of two has", [failed(5, "DEL"), failed(6, "DEL", "c2")], ["c2"], 1],
  ["only ADD has failed", [failed(5)], ["c1"], undefined],
  ["its container is not known", [failed(5, "DEL", "")], ["c1"], undefined],
] as const) {
  test(`DEL fails, where ${what}: ${expected ?? "no"}`, async (t) => {
    const held = holders.map((id) => ({
      owner: { kind: "attachment", ...attachment(id) } as const,
      since: 1,
    }));
    t.equal(failingDels(records, held)?.count, expected);
  });
}

const now = 100;

for (const [what, records, cursor, reservations, expected] of [
  ["the last ones did", [returned(90), returned(92), returned(94)], 94, [], 3],
  ["pods before them live", [returned(90), returned(92), returned(94)], 94, [3, 80], 3],
  ["it was two", [returned(92), returned(94)], 94, [], undefined],
  ["a pod in between lives", [returned(90), returned(92), returned(94)], 94, [91], undefined],
  ["a later pod lives", [returned(90), returned(92), returned(94)], 96, [96], undefined],
  ["a later pod has gone", [returned(90), returned(92), returned(94)], 96, [], undefined],
  [
    "another is just being started",
    [returned(90), returned(92), returned(94)],
    99.8,
    [80, 99.8],
    3,
  ],
  ["none did", [failed(90), failed(92), failed(94)], 94, [], undefined],
] as const) {
  test(`pods give their addresses back, where ${what}: ${expected ?? "no"}`, async (t) => {
    const traces = { cursor: cursorAt(cursor), reservations: reserved(...reservations) };
    t.equal(givenBack(records, traces, now * SECOND)?.count, expected);
  });
}

test("calls are of the network whose files they name, and of none where they name none", async (t) => {
  const directory = directoryOn(startOperator(new MemoryMachine()).system);
  const of = (network: string, dataDir: string): string | undefined => {
    const record = { ...failed(1), network, dataDir };
    const [found] = callsByNetwork([record], [directory]);
    return found?.directory?.files.directory;
  };
  t.equal(of("net", "/data"), "/data/net");
  t.equal(of("net", "/data/../data/"), "/data/net");
  t.equal(of("net", ""), "/data/net", "the call could not read where");
  t.equal(of("net", "/elsewhere"), undefined);
  t.equal(of("other", "/data"), undefined);
  t.equal(of("", ""), undefined);

  const unnamed = { ...failed(1), network: "", dataDir: "" };
  const records = [unnamed, failed(2), { ...failed(3), dataDir: "/data/" }, unnamed];
  t.match(callsByNetwork(records, [directory]), [
    { network: "", records: { length: 2 } },
    { network: "net", records: { length: 2 } },
  ]);
});
