/** The addresses of a namespace, by its tables. */

import { test } from "tap";
import {
  addressesBy,
  interfaceAddresses,
  isLocal,
} from "../../../src/store/namespaces/addresses.ts";
import { SystemError } from "../../../src/system/system.ts";

test("addresses of IPv6 are in their canonical form", async (t) => {
  const table =
    "fd000000000000000000000000000007 02 40 00 80     eth0\nfe80000000000000a8bbccfffeddeeff 02 40 20 80     eth0\n";

  t.same(interfaceAddresses(table), ["fd00::7", "fe80::a8bb:ccff:fedd:eeff"]);
});

test("the tables of a process that has ended are gone; a kernel without IPv6 has one table only", async (t) => {
  const failing =
    (code: string, ...tables: readonly string[]) =>
    (table: string): string => {
      if (tables.includes(table)) throw new SystemError("open", table, code);
      return table === "fib_trie" ? "|-- 10.88.0.7\n   /32 host LOCAL\n" : "";
    };
  for (const code of ["ENOENT", "ESRCH", "EINVAL"]) {
    t.equal(addressesBy(failing(code, "if_inet6", "fib_trie")), undefined, code);
    t.same(addressesBy(failing(code, "if_inet6")), new Set(["10.88.0.7"]), "without IPv6");
  }
  t.throws(() => addressesBy(failing("EIO", "if_inet6")), { code: "EIO" });
});

test("what every namespace has is of the loopback interface, or link-local", async (t) => {
  t.ok(["127.0.0.1", "127.1.2.3", "::1", "fe80::a"].every(isLocal));
  t.notOk(["10.127.0.1", "::11", "fd00::fe80:1", "fec0::1"].some(isLocal));
});
