import { test } from "tap";
import { formatAddress } from "../../src/ipam/address.ts";
import { type Exclusions, makeExclusions } from "../../src/ipam/exclusions.ts";
import type { RangeSet } from "../../src/ipam/range-set.ts";
import { candidatesInOrder } from "../../src/store/candidate-order.ts";
import { NO_PREFERENCES, type Preferences } from "../../src/store/reuse/reuse.ts";
import type { System } from "../../src/system/system.ts";
import { refuse } from "../harness/interruption.ts";
import { address } from "../ipam/parsed.ts";
import { machineWith, OPENING, open, rangeSet } from "./fixtures.ts";

const five = rangeSet("10.0.0.0/29");
const two = rangeSet("10.0.0.0/28", "10.0.1.0/28");

interface Request {
  readonly set?: RangeSet;
  readonly exclusions?: Exclusions;
  readonly cursor?: string;
  readonly preferences?: Preferences;
}

/** The candidates in their order, without the `10.0.` that all begin with. */
function order(
  system: System,
  { set = five, exclusions = [], cursor, preferences = NO_PREFERENCES }: Request,
): readonly string[] {
  const last = cursor === undefined ? undefined : address(cursor);
  const found = candidatesInOrder(open(system), set, exclusions, last, preferences);
  return [...found].map(({ address }) => formatAddress(address).replace(/^10\.0\./, ""));
}

/** `<range>.<first>` to `<range>.<last>`. */
function addresses(range: number, first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, at) => `${range}.${first + at}`);
}

test("candidates from a cursor, with many taken in two ranges, come once each and in order", async (t) => {
  const early = ["0.7", "0.9", "0.10"];
  const late = ["0.14", "1.2", "1.3", "1.14", "0.2", "0.4", "0.5"];
  const taken = [...early, ...late].map((name) => [`10.0.${name}`, "other\r\neth0"]);
  const process = machineWith(Object.fromEntries(taken)).start();

  t.same(order(process, { set: two, cursor: "10.0.0.5" }), [
    // Eight are tried blindly.
    ...addresses(0, 6, 13),
    ...addresses(1, 4, 13),
    "0.3",
  ]);
  t.same(
    process.calls.slice(OPENING).map(({ operation }) => operation),
    ["listAddresses"],
  );
});

test("candidates are read from the directory only after eight tries", async (t) => {
  const process = machineWith().start({ interrupt: refuse("listAddresses", "EIO") });
  const found = candidatesInOrder(open(process), two, [], undefined, NO_PREFERENCES);

  for (let tries = 0; tries < 8; tries++) t.equal(found.next().done, false);
  t.equal(process.calls.length, OPENING);
  t.throws(() => found.next(), { code: "EIO" });
});

test("candidates begin with the pod's own, and end with the avoided, the longest released first", async (t) => {
  const avoided = new Map([
    ["10.0.0.6", 1000],
    ["10.0.0.2", 5000],
    ["10.0.0.4", 3000],
  ]);
  const preferences = { own: [address("10.0.0.3")], avoided };

  t.same(order(machineWith().start(), { cursor: "10.0.0.4", preferences }), [
    "0.3",
    ...["0.5", "0.3"],
    ...["0.2", "0.4", "0.6"],
  ]);
});

test("candidates are never gateways, excluded or of another set, even if the pod had them", async (t) => {
  const exclusions = makeExclusions([{ first: address("10.0.0.3"), last: address("10.0.0.3") }]);
  const names = ["10.0.0.1", "10.0.0.3", "10.9.9.9", "2001:db8::2", "10.0.0.5"];
  const own = { own: names.map(address), avoided: new Map<string, number>() };
  const avoided = { own: [], avoided: new Map([...names, "garbage"].map((name) => [name, 1])) };

  t.same(order(machineWith().start(), { exclusions, preferences: own }), [
    "0.5",
    ...["0.2", "0.4", "0.5", "0.6"],
  ]);
  t.same(order(machineWith().start(), { exclusions, preferences: avoided }), [
    ...["0.2", "0.4", "0.6"],
    "0.5",
  ]);
});
