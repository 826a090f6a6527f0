import { test } from "tap";
import { decideBy, type Rules } from "../../../src/operator/gc/decision.ts";

const MINUTE = 60_000;
const now = Date.UTC(2026, 0, 31, 12);

/** A reservation of this age, in milliseconds. */
function reservation(age: number) {
  return { name: "10.1.2.3", owner: "c1\r\neth0", modified: BigInt(now - age) * 1_000_000n };
}

function rules(changed: Partial<Rules> = {}): Rules {
  return { asOf: now, grace: 10 * MINUTE, isImmediate: false, before: [], ...changed };
}

const old = reservation(60 * MINUTE);

test("only what is dead and old enough is ever released", (t) => {
  const decide = decideBy(rules({ isImmediate: true }));

  t.equal(decide({ seen: old, liveness: "alive" }).decision, "alive");
  t.equal(decide({ seen: old, liveness: "unknown" }).decision, "unknown");
  t.equal(decide({ seen: old, liveness: "inUse" }).decision, "inUse");
  t.equal(decide({ seen: undefined, liveness: "dead" }).decision, "unowned");
  t.equal(decide({ seen: reservation(10 * MINUTE - 1), liveness: "dead" }).decision, "young");
  t.equal(decide({ seen: reservation(-1), liveness: "dead" }).decision, "young");
  t.equal(decide({ seen: reservation(10 * MINUTE), liveness: "dead" }).decision, "due");
  t.end();
});

test("nothing is reported of a pod that starts while the list is made", (t) => {
  const decide = decideBy(rules({ isImmediate: true }));

  for (const liveness of ["unknown", "inUse", "dead"] as const) {
    t.same(decide({ seen: reservation(MINUTE), liveness }), {
      decision: "young",
      seenDead: undefined,
    });
  }
  t.end();
});

test("a second run counts once the grace period has passed since the first", (t) => {
  const decision = (ago: number, changed: Partial<Rules> = {}) =>
    decideBy(rules({ before: [{ ...old, since: now - ago }], ...changed }))({
      seen: old,
      liveness: "dead",
    }).decision;

  t.equal(decision(10 * MINUTE - 1), "waiting");
  t.equal(decision(10 * MINUTE), "due");
  t.equal(decision(0, { grace: 0 }), "waiting", "the same time is not a second run");
  t.equal(decision(1, { grace: 0 }), "due");
  t.equal(decision(-60 * MINUTE), "waiting", "an earlier run lies in the future");
  t.end();
});

test("the time of the first run is kept, and belongs to one reservation", (t) => {
  const before = [{ ...old, since: now - 60 * MINUTE }];
  const decide = decideBy(rules({ before }));
  const others = [
    { ...old, name: "10.1.2.4" },
    { ...old, owner: "c1\r\neth1" },
    { ...old, modified: old.modified + 1n },
  ];

  t.same(decide({ seen: old, liveness: "dead" }).seenDead, before[0]);
  t.equal(decide({ seen: old, liveness: "alive" }).seenDead, undefined);
  for (const other of others) {
    t.same(decide({ seen: other, liveness: "dead" }), {
      decision: "waiting",
      seenDead: { ...other, since: now },
    });
  }
  t.end();
});
