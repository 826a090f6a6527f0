import { test } from "tap";
import {
  contradicts,
  type DecidedReservation,
  decideBy,
  type Rules,
} from "../../../src/operator/gc/decision.ts";

const MINUTE = 60_000;
const now = Date.UTC(2026, 0, 31, 12);

/** A reservation of this age, in milliseconds. */
function reservation(age: number) {
  return { seenId: "its id", since: now - age };
}

function rules(changed: Partial<Rules> = {}): Rules {
  const usual = { asOf: now, now, grace: 10 * MINUTE, isImmediate: false, before: new Map() };
  return { ...usual, list: "believed", ...changed };
}

const old = reservation(60 * MINUTE);

/** What the node shows, by a short name. */
const conclusions = {
  process: { liveness: "alive", by: "process", reason: "" },
  namespace: { liveness: "alive", by: "namespace", reason: "" },
  mount: { liveness: "alive", by: "mount", path: "/run/netns/a", reason: "" },
  dead: { liveness: "dead", by: "record", reason: "" },
  unknown: { liveness: "unknown", by: "view", reason: "" },
  unreadable: { liveness: "unknown", by: "unread", reason: "" },
  recorded: { liveness: "unknown", by: "record", reason: "" },
} as const satisfies Readonly<Record<string, DecidedReservation["conclusion"]>>;

type Evidence = Pick<
  DecidedReservation,
  "seenId" | "since" | "conclusion" | "isListed" | "mayBeListed" | "isBesideListed"
>;

type Shown = keyof typeof conclusions;

function candidate(shown: Shown, changed: Partial<Evidence> = {}): Evidence {
  const unlisted = { isListed: false, mayBeListed: false, isBesideListed: () => false };
  return { ...old, conclusion: conclusions[shown], ...unlisted, ...changed };
}

for (const [shown, without, believed, doubted] of [
  ["process", "alive", "inUse", "inUse"],
  ["namespace", "alive", "inUse", "inUse"],
  ["mount", "alive", "inUse", "inUse"],
  ["dead", "due", "due", "due"],
  ["unknown", "unknown", "due", "unknown"],
  ["unreadable", "unknown", "unknown", "unknown"],
  ["recorded", "unknown", "unknown", "unknown"],
] as const) {
  test(`${shown}: ${without} without a list, ${believed} by a list, ${doubted} by one in doubt`, async (t) => {
    const decision = (list: Rules["list"], isListed = false) =>
      decideBy(rules({ list, isImmediate: true }))(candidate(shown, { isListed })).decision;

    t.equal(decision("none"), without);
    t.equal(decision("believed"), believed);
    t.equal(decision("doubted"), doubted);
    t.equal(decision("believed", true), "alive");
    t.equal(decision("doubted", true), "alive");
    // A namespace that is only mounted is kept, but the runtime may have lost it.
    const one = candidate(shown);
    t.equal(contradicts({ ...one, ...decideBy(rules())(one) }), shown === "process");
  });
}

test("a list decides on what is recorded for no pod only where it may have its container", async (t) => {
  const decide = decideBy(rules({ isImmediate: true }));

  t.equal(decide(candidate("recorded", { mayBeListed: true })).decision, "due");
  t.equal(decide(candidate("recorded")).decision, "unknown");
});

for (const [what, seen, decision] of [
  ["that names no container", { seenId: undefined }, "unowned"],
  ["of no known age", { since: undefined }, "unowned"],
  ["younger than the grace period", reservation(10 * MINUTE - 1), "young"],
  ["dated a moment ahead of the clock", reservation(-1), "young"],
  ["dated ahead by a clock that was wrong", reservation(-10 * MINUTE), "due"],
  ["as old as the grace period", reservation(10 * MINUTE), "due"],
] as const) {
  test(`a dead container's reservation ${what} is ${decision}`, async (t) => {
    t.equal(decideBy(rules({ isImmediate: true }))(candidate("dead", seen)).decision, decision);
  });
}

test("nothing is reported of a pod that starts while the list is made", async (t) => {
  const decide = decideBy(rules({ isImmediate: true }));

  for (const [shown, decision] of [
    ["unknown", "young"],
    ["process", "alive"],
    ["mount", "alive"],
    ["dead", "young"],
  ] as const) {
    const young = candidate(shown, reservation(MINUTE));
    const decided = decide(young);
    t.same(decided, { decision, deadSince: undefined, isByList: false });
    t.notOk(contradicts({ ...young, ...decided }));
  }
});

for (const [when, ago, grace, decision] of [
  ["before the grace period has passed", 10 * MINUTE - 1, 10 * MINUTE, "waiting"],
  ["once the grace period has passed", 10 * MINUTE, 10 * MINUTE, "due"],
  ["at the same time, which is not a second run", 0, 0, "waiting"],
  ["a moment after the first, without a grace period", 1, 0, "due"],
  ["before the first, by a clock that was set back", -60 * MINUTE, 10 * MINUTE, "waiting"],
] as const) {
  test(`a second run ${when}: ${decision}`, async (t) => {
    const before = new Map([["its id", now - ago]]);
    t.equal(decideBy(rules({ before, grace }))(candidate("dead")).decision, decision);
  });
}

test("the time of the first run is kept, for one reservation that no list has meanwhile", async (t) => {
  const before = new Map([["its id", now - 60 * MINUTE]]);
  const decide = decideBy(rules({ before }));

  t.equal(decide(candidate("dead")).deadSince, now - 60 * MINUTE);
  t.equal(decide(candidate("dead", { seenId: "another" })).deadSince, now);
  t.equal(decide(candidate("dead", { isListed: true })).deadSince, undefined, "alive meanwhile");
});
