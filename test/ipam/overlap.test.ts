import fc from "fast-check";
import { test } from "tap";
import { addressAt, type Window } from "../../src/ipam/address.ts";
import { firstOverlap } from "../../src/ipam/overlap.ts";
import { families, smallWindows } from "./arbitraries.ts";

const anyWindows = families.chain(smallWindows);

test("the pair is the one that comparing each with all after it finds first", (t) => {
  fc.assert(
    fc.property(fc.array(anyWindows, { maxLength: 8 }), (windows) => {
      t.same(firstOverlap(windows.map((window) => [window])), naively(windows.map((one) => [one])));
    }),
  );
  t.end();
});

test("groups of several windows are compared as wholes", (t) => {
  const group = fc.array(anyWindows, { maxLength: 4 }).map(apart);
  fc.assert(
    fc.property(fc.array(group, { maxLength: 5 }), (groups) => {
      t.same(firstOverlap(groups), naively(groups));
    }),
  );
  t.end();
});

test("a hundred thousand windows take no time worth mentioning", (t) => {
  const windows = Array.from({ length: 100_000 }, (_, at) => windowAt(2 * at));
  const began = performance.now();

  t.equal(firstOverlap(windows.map((window) => [window])), undefined);
  t.same(firstOverlap([...windows, windowAt(0)].map((window) => [window])), [0, 100_000]);

  // Comparing each with each took a minute.
  t.ok(performance.now() - began < 10_000);
  t.end();
});

function windowAt(value: number): Window {
  return { first: addressAt(4, BigInt(value)), last: addressAt(4, BigInt(value)) };
}

/** Those of a list that share no address with one before them. */
function apart(windows: readonly Window[]): readonly Window[] {
  const kept: Window[] = [];
  for (const window of windows) {
    if (!kept.some((other) => overlap(window, other))) kept.push(window);
  }
  return kept;
}

function naively(groups: readonly (readonly Window[])[]): readonly [number, number] | undefined {
  for (const [earlier, group] of groups.entries()) {
    for (const [later, other] of groups.entries()) {
      if (later > earlier && group.some((a) => other.some((b) => overlap(a, b)))) {
        return [earlier, later];
      }
    }
  }
  return undefined;
}

function overlap(a: Window, b: Window): boolean {
  return (
    a.first.family === b.first.family &&
    a.first.value <= b.last.value &&
    b.first.value <= a.last.value
  );
}
