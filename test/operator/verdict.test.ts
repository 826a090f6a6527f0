import { test } from "tap";
import { judgeBy, type Rules } from "../../src/operator/verdict.ts";

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
  const judge = judgeBy(rules({ isImmediate: true }));

  t.equal(judge({ seen: old, life: "alive" }).verdict, "alive");
  t.equal(judge({ seen: old, life: "unknown" }).verdict, "unknown");
  t.equal(judge({ seen: undefined, life: "dead" }).verdict, "ownerless");
  t.equal(judge({ seen: reservation(10 * MINUTE - 1), life: "dead" }).verdict, "young");
  t.equal(judge({ seen: reservation(-1), life: "dead" }).verdict, "young");
  t.equal(judge({ seen: reservation(10 * MINUTE), life: "dead" }).verdict, "due");
  t.end();
});

test("a second sighting counts once the grace period has passed since the first", (t) => {
  const verdict = (ago: number, changed: Partial<Rules> = {}) =>
    judgeBy(rules({ before: [{ ...old, since: now - ago }], ...changed }))({
      seen: old,
      life: "dead",
    }).verdict;

  t.equal(verdict(10 * MINUTE - 1), "waiting");
  t.equal(verdict(10 * MINUTE), "due");
  t.equal(verdict(0, { grace: 0 }), "waiting", "the same moment is no second look");
  t.equal(verdict(1, { grace: 0 }), "due");
  t.equal(verdict(-60 * MINUTE), "waiting", "an earlier run lies in the future");
  t.end();
});

test("the first sighting is remembered, and belongs to one reservation", (t) => {
  const before = [{ ...old, since: now - 60 * MINUTE }];
  const judge = judgeBy(rules({ before }));
  const others = [
    { ...old, name: "10.1.2.4" },
    { ...old, owner: "c1\r\neth1" },
    { ...old, modified: old.modified + 1n },
  ];

  t.same(judge({ seen: old, life: "dead" }).sighting, before[0]);
  t.equal(judge({ seen: old, life: "alive" }).sighting, undefined);
  for (const other of others) {
    t.same(judge({ seen: other, life: "dead" }), {
      verdict: "waiting",
      sighting: { ...other, since: now },
    });
  }
  t.end();
});
