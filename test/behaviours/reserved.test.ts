// test: each executable, one if short
/** Addresses that the configuration reserves for one pod, or for nobody: `reserved`. */

import { behaviour, dualStack, fails, five, pod, succeeds } from "./behaviour.ts";

const db = pod("db-0");

behaviour(
  "ADD gives a pod the address that is reserved for it, and nobody else any that is reserved",
  { ipam: { ...five, reserved: { "198.51.100.3": null, "198.51.100.5": "default/db-0" } } },
  (t, network) => {
    t.same(network.add("c1", pod("web")).addresses, ["198.51.100.2"]);
    t.same(network.add("c2").addresses, ["198.51.100.4"]);
    t.same(network.add("c3", pod("db-00")).addresses, ["198.51.100.6"]);
    fails(t, network.add("late", pod("web")), 999, "no IP addresses available in range set");

    t.same(network.add("c4", db).addresses, ["198.51.100.5"]);
    network.del("c4", db);
    t.same(network.add("c5", db).addresses, ["198.51.100.5"], "and again");
  },
);

behaviour(
  "ADD that does not name the pod gets no address that is reserved",
  { ipam: { ...five, reserved: { "198.51.100.2": "default/db-0" } } },
  (t, network) => {
    for (const [at, cniArgs] of [
      "",
      "IgnoreUnknown=1;K8S_POD_NAME=db-0",
      "IgnoreUnknown=1;K8S_POD_NAMESPACE=test;K8S_POD_NAME=db-0",
      "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=DB-0",
    ].entries()) {
      t.same(network.add(`c${at}`, { cniArgs }).addresses, [`198.51.100.${at + 3}`], cniArgs);
    }
  },
);

behaviour(
  "ADD for a pod with an address of its own does not move the cursor of the others",
  {
    ipam: { ...five, reserved: { "198.51.100.2": "default/db-0" } },
    files: { "last_reserved_ip.0": "198.51.100.4" },
  },
  (t, network) => {
    t.same(network.add("c1", db).addresses, ["198.51.100.2"]);
    t.equal(network.cursor(), "198.51.100.4");
    t.same(network.add("c2").addresses, ["198.51.100.5"]);
  },
);

behaviour(
  "ADD refuses a requested address that is reserved, and says for whom; the pod itself gets it",
  { ipam: { ...five, reserved: { "198.51.100.3": null, "198.51.100.4": "default/db-0" } } },
  (t, network) => {
    for (const [address, owner] of [
      ["198.51.100.3", "nobody"],
      ["198.51.100.4", "default/db-0"],
    ]) {
      const refused = network.add("c1", { cniArgs: `${pod("web").cniArgs};IP=${address}` });
      fails(t, refused, 999, `requested ip ${address} is reserved for ${owner}`);
      t.equal(refused.error?.details, "it is listed in ipam.reserved");
    }
    t.same(network.reserved(), []);

    fails(t, network.add("c1", { cniArgs: `${db.cniArgs};IP=198.51.100.3` }), 999, "for nobody");
    t.same(network.add("c1", { cniArgs: `${db.cniArgs};IP=198.51.100.4` }).addresses, [
      "198.51.100.4",
    ]);
    t.same(network.add("c2", { cniArgs: `${db.cniArgs};IP=198.51.100.6` }).addresses, [
      "198.51.100.6",
    ]);
  },
);

behaviour(
  "ADD waits, by an error, for the one that still has the pod's address: an older sandbox of the pod",
  { ipam: { ...five, reserved: { "198.51.100.4": "default/db-0" } } },
  (t, network) => {
    network.add("old", db);

    const refused = network.add("new", db);

    fails(t, refused, 999, "no IP addresses available in range set: 198.51.100.4-198.51.100.4");
    t.match(
      refused.error?.details,
      "default/db-0 gets no other address of this range set (ipam.reserved), and waits for the end of the one that has it. Next: run `host-local check",
    );
    t.same(network.reserved(), ["198.51.100.4"]);
    network.del("old", db);
    t.same(network.add("new", db).addresses, ["198.51.100.4"]);
  },
);

behaviour(
  "ADD gives a pod an address of its own in each range set that has one",
  {
    ipam: {
      ...dualStack,
      reserved: {
        "2001:DB8:0::5": "default/db-0",
        "198.51.100.6": "default/db-0",
        "198.51.100.5": "default/db-1",
      },
    },
  },
  (t, network) => {
    t.same(network.add("c1", db).addresses, ["198.51.100.6", "2001:db8::5"]);
    t.same(network.add("c2", pod("db-1")).addresses, ["198.51.100.5", "2001:db8::2"]);
  },
);

const all = "198.51.100.0/29";

behaviour(
  "STATUS fails where every address is reserved for nobody, and not where a pod may get one",
  { ipam: { ...five, reserved: { [all]: null } } },
  (t, network) => {
    fails(t, network.status(), 50, "no IP addresses available in range set");
    t.match(
      network.status().error?.details,
      "ipam.exclude and ipam.reserved leave no address to hand out; correct them",
    );

    const ipam = { reserved: { [all]: "default/db-0" } };
    succeeds(t, network.status({ ipam }));
    succeeds(t, network.strictStatus({ ipam }));
    const refused = network.add("c1", { ipam });
    fails(t, refused, 999);
    t.equal(
      refused.error?.details,
      "every address is reserved for another pod (ipam.reserved); this one needs one there, or some that are for all",
    );
    t.same(network.add("c1", { ...db, ipam }).addresses, ["198.51.100.2"]);
  },
);
