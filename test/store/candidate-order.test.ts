import { test } from "tap";
import { formatAddress } from "../../src/ipam/address.ts";
import { type Exclusions, makeExclusions } from "../../src/ipam/exclusions.ts";
import { candidatesInOrder } from "../../src/store/candidate-order.ts";
import type { Preferences } from "../../src/store/reuse/reuse.ts";
import { address } from "../ipam/parsed.ts";
import { machineWith, open, rangeSet } from "./fixtures.ts";

const five = rangeSet("10.0.0.0/29");

interface Request {
  readonly exclusions?: Exclusions;
  readonly cursor?: string;
  readonly preferences: Preferences;
}

/** The candidates in their order, without the `10.0.` that all begin with. */
function order({ exclusions = [], cursor, preferences }: Request): readonly string[] {
  const last = cursor === undefined ? undefined : address(cursor);
  const files = open(machineWith().start());
  const found = candidatesInOrder(files, five, exclusions, last, preferences);
  return [...found].map(({ address }) => formatAddress(address).replace(/^10\.0\./, ""));
}

test("candidates begin with the pod's own, and end with the avoided, the longest released first", async (t) => {
  const avoided = new Map([
    ["10.0.0.6", 1000],
    ["10.0.0.2", 5000],
    ["10.0.0.4", 3000],
  ]);
  const preferences = { own: [address("10.0.0.3")], avoided };

  t.same(order({ cursor: "10.0.0.4", preferences }), [
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

  t.same(order({ exclusions, preferences: own }), ["0.5", ...["0.2", "0.4", "0.5", "0.6"]]);
  t.same(order({ exclusions, preferences: avoided }), [...["0.2", "0.4", "0.6"], "0.5"]);
});
