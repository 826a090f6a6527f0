/** What the next ADD comes to, by a dry run and by what is in use: plain values. */

import { test } from "tap";
import { nextAddIn } from "../../../src/operator/judgements/next-add.ts";
import { address } from "../../ipam/parsed.ts";
import { rangeSet } from "../../store/fixtures.ts";
import { networkIn } from "../held/reservation.ts";

test("the plugin fails: full, fails: read-only", async (t) => {
  const network = networkIn("/data", { rangeSets: [rangeSet("10.0.0.0/30", "10.0.1.0/30")] });
  const used = ["10.0.0.2", "10.0.1.2"].map((name) => ({ name, address: address(name) }));
  const next = nextAddIn(network, { kind: "fails", reason: "read-only" }, used);
  t.same(
    next.sets.map((one) => one.kind),
    ["full"],
  );
  t.equal(next.failure, "read-only");
});
