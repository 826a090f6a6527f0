import { test } from "tap";
import { seenId } from "../../../src/operator/gc/collection-file.ts";
import { decideBy, type Rules, withoutList } from "../../../src/operator/gc/decision.ts";
import { parseLiveLists } from "../../../src/operator/gc/live-list.ts";
import { attachment } from "../../store/fixtures.ts";
import { reservationOf } from "../held/reservation.ts";
import { known, owned, unowned } from "../judgements/conclusions.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const listOf = (...ids: readonly string[]) =>
  parseLiveLists({ source: "the list", text: ids.join("\n") });

/** The rules of a run with a list that lacks c1, so long after the reservation was made. */
function rules(age: number, changed: Partial<Rules> = {}): Rules {
  const list = listOf("another");
  const usual = { asOf: age, now: age, grace: 10 * MINUTE, isImmediate: false };
  return { ...usual, list, before: new Map(), ...changed };
}

for (const [shown, without, believed, doubted] of [
  ["process", "alive", "alive", "alive"],
  ["namespace", "alive", "alive", "alive"],
  ["idle", "alive", "alive", "alive"],
  ["dead", "due", "due", "due"],
  ["unknown", "unknown", "due", "unknown"],
  ["unread", "unknown", "unknown", "unknown"],
  ["recorded", "unknown", "unknown", "unknown"],
] as const) {
  test(`${shown}: ${without} without a list, ${believed} by a list, ${doubted} by one in doubt`, async (t) => {
    const decide = (list: Rules["list"]) =>
      decideBy(rules(HOUR, { list, isImmediate: true }))(known(shown));

    t.equal(decide(undefined).decision, without);
    t.equal(decide(listOf("another")).decision, believed);
    t.equal(withoutList(decide(listOf("another"))).decision, doubted);
    t.equal(withoutList(decide(listOf("another"))).deadSince, doubted === "due" ? HOUR : undefined);
    t.equal(decide(listOf("c1")).decision, "alive");
  });
}

test("a list decides on what is recorded for no pod only where it may have its container", async (t) => {
  const decide = decideBy(rules(HOUR, { isImmediate: true }));
  const ofRuntime = reservationOf({ kind: "attachment", ...attachment("a".repeat(64)) });

  t.equal(decide(known("recorded", ofRuntime)).decision, "due");
  t.equal(decide(known("recorded")).decision, "unknown");
});

test("what names no container is nobody's", async (t) => {
  t.equal(decideBy(rules(HOUR))(known("dead", unowned)).decision, "unowned");
});

for (const [what, age, decision] of [
  ["younger than the grace period", 10 * MINUTE - 1, "young"],
  ["dated a moment ahead of the clock", -1, "young"],
  ["dated ahead by a clock that was wrong", -10 * MINUTE, "due"],
  ["as old as the grace period", 10 * MINUTE, "due"],
] as const) {
  test(`a dead container's reservation ${what} is ${decision}`, async (t) => {
    t.equal(decideBy(rules(age, { isImmediate: true }))(known("dead")).decision, decision);
  });
}

test("a pod that starts while the list is made need not be in it", async (t) => {
  const decide = decideBy(rules(MINUTE, { isImmediate: true }));

  for (const shown of ["unknown", "process", "idle", "dead"] as const) {
    t.match(decide(known(shown)), { decision: "young", deadSince: undefined });
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
    const before = new Map([[seenId(owned) ?? "", HOUR - ago]]);
    t.equal(decideBy(rules(HOUR, { before, grace }))(known("dead")).decision, decision);
  });
}

test("the time of the first run is kept, for one reservation that no list has meanwhile", async (t) => {
  const before = new Map([[seenId(owned) ?? "", 30 * MINUTE]]);
  const another = reservationOf({ kind: "attachment", ...attachment("c2") });
  const decide = decideBy(rules(HOUR, { before }));

  t.equal(decide(known("dead")).deadSince, 30 * MINUTE);
  t.equal(decide(known("dead", another)).deadSince, HOUR);
  const listed = decideBy(rules(HOUR, { before, list: listOf("c1") }))(known("dead"));
  t.equal(listed.deadSince, undefined, "alive meanwhile");
});
