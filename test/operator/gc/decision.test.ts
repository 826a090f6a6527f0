import { test } from "tap";
import { seenId } from "../../../src/operator/gc/collection-file.ts";
import { decideBy, type Rules, withoutList } from "../../../src/operator/gc/decision.ts";
import { parseLiveLists } from "../../../src/operator/gc/live-list.ts";
import { attachment } from "../../store/fixtures.ts";
import { reservationOf } from "../held/reservation.ts";
import { known, owned } from "../judgements/conclusions.ts";

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

test("recorded: unknown without a list, unknown by a list, unknown by one in doubt", async (t) => {
  const decide = (list: Rules["list"]) =>
    decideBy(rules(HOUR, { list, isImmediate: true }))(known("recorded"));

  t.equal(decide(undefined).decision, "unknown");
  t.equal(decide(listOf("another")).decision, "unknown");
  t.equal(withoutList(decide(listOf("another"))).decision, "unknown");
  t.equal(withoutList(decide(listOf("another"))).deadSince, undefined);
  t.equal(decide(listOf("c1")).decision, "alive");
});

test("a list decides on what is recorded for no pod only where it may have its container", async (t) => {
  const decide = decideBy(rules(HOUR, { isImmediate: true }));
  const ofRuntime = reservationOf({ kind: "attachment", ...attachment("a".repeat(64)) });

  t.equal(decide(known("recorded", ofRuntime)).decision, "due");
  t.equal(decide(known("recorded")).decision, "unknown");
});

test("a dead container's reservation as old as the grace period is due", async (t) => {
  const decide = decideBy(rules(10 * MINUTE, { isImmediate: true }));
  t.equal(decide(known("dead")).decision, "due");
});

test("a pod that starts while the list is made need not be in it", async (t) => {
  const decide = decideBy(rules(MINUTE, { isImmediate: true }));

  for (const shown of ["unknown", "process", "idle", "dead"] as const) {
    t.match(decide(known(shown)), { decision: "young", deadSince: undefined });
  }
});

for (const [when, ago, grace, decision] of [
  ["once the grace period has passed", 10 * MINUTE, 10 * MINUTE, "due"],
  ["at the same time, which is not a second run", 0, 0, "waiting"],
] as const) {
  test(`a second run ${when}: ${decision}`, async (t) => {
    const before = new Map([[seenId(owned) ?? "", HOUR - ago]]);
    t.equal(decideBy(rules(HOUR, { before, grace }))(known("dead")).decision, decision);
  });
}
