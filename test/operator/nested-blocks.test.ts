import fc from "fast-check";
import { test } from "tap";
import type { Window } from "../../src/ipam/address.ts";
import { parsePrefix, windowOf } from "../../src/ipam/prefix.ts";
import { groupBlocks } from "../../src/operator/nested-blocks.ts";
import { seed } from "../faults/seed.ts";

interface Block extends Window {
  readonly text: string;
}

function block(text: string): Block {
  const prefix = parsePrefix(text);
  if (prefix === undefined) throw new Error(text);
  return { ...windowOf(prefix), text };
}

/** Networks that often are the same, or lie in one another. */
const blocks = fc.array(
  fc
    .tuple(fc.constantFrom("10.0.", "10.1."), fc.nat(7), fc.integer({ min: 20, max: 28 }))
    .map(([start, third, length]) => {
      const { first } = block(`${start}${third * 32}.${third * 16}/${length}`);
      const octets = [24n, 16n, 8n, 0n].map((shift) => (first.value >> shift) & 255n);
      return block(`${octets.join(".")}/${length}`);
    }),
  { maxLength: 30 },
);

test("the sweep finds what a comparison of all pairs finds", (t) => {
  fc.assert(
    fc.property(blocks, (list) => {
      const groups = groupBlocks(list);
      for (const { members, around } of groups) {
        const [one] = members;
        if (one === undefined) return false;
        const same = list.filter((other) => other.text === one.text);
        const larger = list.filter(
          (other) =>
            other.text !== one.text &&
            other.first.value <= one.first.value &&
            one.last.value <= other.last.value,
        );
        larger.sort((a, b) =>
          Number(a.last.value - a.first.value - (b.last.value - b.first.value)),
        );
        if (members.length !== same.length || around?.members[0]?.text !== larger[0]?.text) {
          return false;
        }
      }
      return groups.reduce((sum, { members }) => sum + members.length, 0) === list.length;
    }),
    { numRuns: 500, seed },
  );
  t.pass();
  t.end();
});

test("families are kept apart", (t) => {
  const groups = groupBlocks([block("::/0"), block("10.0.0.0/8"), block("0.0.0.0/0")]);

  t.same(
    groups.map(({ members, around }) => [members[0]?.text, around?.members[0]?.text]),
    [
      ["0.0.0.0/0", undefined],
      ["10.0.0.0/8", "0.0.0.0/0"],
      ["::/0", undefined],
    ],
  );
  t.end();
});
