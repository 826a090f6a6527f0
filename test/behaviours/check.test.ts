// test: each executable, one if short
/** CHECK finds what an attachment holds, and writes nothing. */

import { behaviour, changesNothing, fails, succeeds } from "./behaviour.ts";

behaviour("CHECK finds what names the attachment, and only as a reservation", {}, (t, network) => {
  for (const [name, content, isHeld] of [
    ["203.0.113.9", "c1\r\neth0\n", true],
    ["198.51.100.2", "c1", true],
    ["198.51.100.2", "c1\r\neth1", false],
    ["198.51.100.2", "", false],
    ["other", "c1\r\neth0", false],
    ["sub/198.51.100.2", "c1\r\neth0", false],
    ["last_reserved_ip.0", "c1\r\neth0", false],
  ] as const) {
    network.put(name, content);
    changesNothing(t, network, () => {
      t.equal(
        network.check("c1").exitCode,
        isHeld ? 0 : 1,
        `${JSON.stringify(content)} in ${name}`,
      );
    });
    network.machine.remove(`net/${name}`);
  }
});

behaviour(
  "CHECK that fails names the attachment and the directory, and looks neither at prevResult nor at a resolvConf",
  {},
  (t, network) => {
    network.add("c2");

    const refused = network.check("c1");

    fails(t, refused, 999, /^host-local: Failed to find address added by container c1$/);
    t.match(refused.error?.details, network.directory);
    t.match(refused.error?.details, "c1 eth0");
    const ipam = { resolvConf: "/none/such" };
    const top = { prevResult: { cniVersion: "garbage", ips: 5 } };
    succeeds(t, network.check("c2", { ipam, top }));
  },
);
