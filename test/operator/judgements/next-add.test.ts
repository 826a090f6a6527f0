/** What the next ADD comes to, by a dry run and by what is in use: plain values. */

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
const fails: Outlook = { kind: "fails", reason: "read-only" };
const used = ["10.0.0.2", "10.0.1.2"].map((name) => ({ name, address: address(name) }));

for (const [what, outlook, inUse, kind, failure] of [
  ["an address is free", works, [], "free", undefined],
  ["the dry run finds one, whatever is counted", works, used, "free", undefined],
  ["the dry run finds none", asked(full), [], "full", undefined],
  ["nothing was asked, and all are in use", unasked, used, "full", undefined],
  ["nothing was asked, and one is left", unasked, used.slice(1), "free", undefined],
  ["the plugin fails", fails, used, "full", "read-only"],
] as const) {
  test(`${what}: ${kind}${failure === undefined ? "" : `, fails: ${failure}`}`, async (t) => {
    const next = nextAddIn(network, outlook, inUse);
    t.same(
      next.sets.map((one) => one.kind),
      [kind],
    );
    t.equal(next.failure, failure);
  });
}
