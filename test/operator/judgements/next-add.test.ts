/** What the next ADD comes to, by a dry run, by what is in use, and by what the bridge plugin refuses: plain values. */

import { test } from "tap";
import type { Outlook } from "../../../src/operator/facts/outlook.ts";
import { nextAddIn } from "../../../src/operator/judgements/next-add.ts";
import { NoAddressError } from "../../../src/store/no-address.ts";
import { address } from "../../ipam/parsed.ts";
import { rangeSet } from "../../store/fixtures.ts";
import { networkIn } from "../held/reservation.ts";

const set = rangeSet("10.0.0.0/30", "10.0.1.0/30");
const network = networkIn("/data", { rangeSets: [set] });
const full = new NoAddressError("no IP addresses available", "", false);
const candidate = { address: address("10.0.0.2"), range: set[0] };

type Prospects = Extract<Outlook, { readonly kind: "asked" }>["prospects"];

function asked(...prospects: Prospects): Outlook {
  return { kind: "asked", prospects, doubt: undefined };
}

const works = asked({ kind: "free", candidate });
const unasked = asked();
const fails: Outlook = { kind: "fails", reason: "read-only", isOfDisk: true };
const refused = (...at: readonly number[]) => [
  { ranges: at.flatMap((one) => set[one] ?? []), reason: "the bridge has another address" },
];
const used = ["10.0.0.2", "10.0.1.2"].map((name) => ({ name, address: address(name) }));

for (const [what, outlook, refusal, inUse, kind, failure] of [
  ["an address is free", works, [], [], "free", undefined],
  ["the dry run finds one, whatever is counted", works, [], used, "free", undefined],
  ["the dry run finds none", asked(full), [], [], "full", undefined],
  ["nothing was asked, and all are in use", unasked, [], used, "full", undefined],
  ["nothing was asked, and one is left", unasked, [], used.slice(1), "free", undefined],
  ["all of a usable part are in use", works, refused(0), used, "full", undefined],
  ["the bridge plugin refuses every range", works, refused(0, 1), [], "refused", "bridge"],
  ["the plugin fails", fails, [], used, "full", "plugin"],
  ["both fail: the plugin comes first", fails, refused(0, 1), [], "refused", "plugin"],
] as const) {
  test(`${what}: ${kind}${failure === undefined ? "" : `, fails by the ${failure}`}`, async (t) => {
    const next = nextAddIn(network, outlook, refusal, inUse);
    t.same(
      next.sets.map((one) => one.kind),
      [kind],
    );
    t.equal(next.failure?.by, failure);
  });
}
