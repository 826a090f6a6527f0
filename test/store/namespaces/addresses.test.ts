/** The addresses of a namespace, by its tables. */

import { test } from "tap";
import { interfaceAddresses } from "../../../src/store/namespaces/addresses.ts";

test("addresses of IPv6 are in their canonical form", async (t) => {
  const table =
    "fd000000000000000000000000000007 02 40 00 80     eth0\nfe80000000000000a8bbccfffeddeeff 02 40 20 80     eth0\n";

  t.same(interfaceAddresses(table), ["fd00::7", "fe80::a8bb:ccff:fedd:eeff"]);
});
