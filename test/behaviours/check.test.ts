// test: each executable, one if short
/** CHECK finds what an attachment holds, and writes nothing. */

import { behaviour, changesNothing, fails, succeeds } from "./behaviour.ts";

for (const [name, content, isHeld] of [
  ["10.0.0.2", "c1\r\neth0", true],
  ["10.9.9.9", "c1\r\neth0\n", true],
  ["10.0.0.2", "c1", true],
  ["10.0.0.2", "c1\r\neth1", false],
  ["10.0.0.2", "c10\r\neth0", false],
  ["10.0.0.2", "", false],
  ["other", "c1\r\neth0", false],
  ["sub/10.0.0.2", "c1\r\neth0", false],
  ["last_reserved_ip.0", "c1\r\neth0", false],
] as const) {
  behaviour(
    `CHECK ${isHeld ? "accepts" : "does not accept"} ${JSON.stringify(content)} in ${name}`,
    { files: { [name]: content } },
    (t, network) => {
      changesNothing(t, network, () => t.equal(network.check("c1").exitCode, isHeld ? 0 : 1));
    },
  );
}

behaviour("CHECK that fails names the attachment and the directory", {}, (t, network) => {
  network.add("c2");

  const refused = network.check("c1");

  fails(t, refused, 999, /^host-local: Failed to find address added by container c1$/);
  t.match(refused.error?.details, network.directory);
  t.match(refused.error?.details, "c1 eth0");
});

behaviour("CHECK looks neither at prevResult nor at a resolvConf", {}, (t, network) => {
  network.add("c1");

  succeeds(
    t,
    network.check("c1", {
      ipam: { resolvConf: "/none/such" },
      top: { prevResult: { cniVersion: "garbage", ips: 5 } },
    }),
  );
});
