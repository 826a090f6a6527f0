// test: each executable, one if short
/** ADD, where no recording of the Go plugin shows what is asked of it. */

import { behaviour, changesNothing, dualStack, fails, five } from "./behaviour.ts";

const smallest = { subnet: "10.0.0.0/30" };

behaviour(
  "ADD in an exhausted range counts its addresses and says what to do",
  {},
  (t, network) => {
    for (const id of ["c1", "c2", "c3", "c4", "c5"]) t.equal(network.add(id).exitCode, 0);

    const refused = network.add("c6");

    fails(
      t,
      refused,
      999,
      /^failed to allocate for range 0: no IP addresses available in range set: 10\.0\.0\.1-10\.0\.0\.6$/,
    );
    t.match(refused.error?.details, /\b5 of 5\b.* `host-local list net/);
  },
);

behaviour(
  "ADD of a requested address that is taken names its holder, and gives back what it reserved in other sets",
  { ipam: dualStack, files: { "2001:db8::3": "c2\r\neth0", "10.9.9.9": "c1\r\neth0" } },
  (t, network) => {
    const refused = network.add("c1", { cniArgs: "IP=2001:db8::3" });

    fails(
      t,
      refused,
      999,
      /^failed to allocate for range 1: requested IP address 2001:db8::3 is not available in range set 2001:db8::1-2001:db8::7$/,
    );
    t.match(refused.error?.details, "c2");
    t.same(network.reserved(), ["10.9.9.9", "2001:db8::3"]);
  },
);

behaviour(
  "ADD that cannot write a cursor keeps no reservation, in no set",
  { ipam: dualStack, files: { "last_reserved_ip.1/": "" } },
  (t, network) => {
    fails(
      t,
      network.add("c1"),
      999,
      /^failed to allocate for range 1: .*last_reserved_ip\.1: is a/,
    );
    t.same(network.reserved(), []);
  },
);

behaviour(
  "ADD takes requested addresses from CNI_ARGS, args and runtimeConfig, each for the set that contains it",
  { ipam: dualStack },
  (t, network) => {
    t.same(network.addRequested("c1", ["10.0.0.4", "2001:db8::5"]).addresses, [
      "10.0.0.4",
      "2001:db8::5",
    ]);
    t.same(network.add("c2", { top: { args: { cni: { ips: ["10.0.0.6/24"] } } } }).addresses, [
      "10.0.0.6",
      "2001:db8::6",
    ]);
  },
);

behaviour(
  "ADD of several requested addresses in a set reserves the first and names the rest in order",
  {},
  (t, network) => {
    const refused = network.add("c1", {
      cniArgs: "IP=10.0.0.5",
      top: {
        args: { cni: { ips: ["10.0.0.4", "9.9.9.9"] } },
        runtimeConfig: { ips: ["10.0.0.3", "8.8.8.8"] },
      },
    });

    fails(
      t,
      refused,
      999,
      "failed to allocate all requested IPs: 10.0.0.4 9.9.9.9 10.0.0.3 8.8.8.8",
    );
    t.same(network.reserved(), []);
    t.equal(network.cursor(), "10.0.0.5", "the first one had been reserved");
  },
);

for (const cursor of ["10.0.0.3\n", " 10.0.0.3", "10.0.0.3\r\n"]) {
  behaviour(
    `ADD ignores white space around the cursor: ${JSON.stringify(cursor)}`,
    { files: { "last_reserved_ip.0": cursor } },
    (t, network) => {
      t.same(network.add("c1").addresses, ["10.0.0.4"]);
    },
  );
}

for (const [subnet, first, second] of [
  ["::100:0/120", "::100:2", "::100:3"],
  ["::/120", "::2", "::3"],
  ["64:ff9b::/96", "64:ff9b::2", "64:ff9b::3"],
  ["0.0.0.0/8", "0.0.0.2", "0.0.0.3"],
  ["2001:db8::ffff:0/112", "2001:db8::ffff:2", "2001:db8::ffff:3"],
] as const) {
  behaviour(`ADD keeps family and order of ${subnet}`, { ipam: { subnet } }, (t, network) => {
    t.same(network.add("c1").addresses, [first]);
    t.same(network.add("c2").addresses, [second]);
  });
}

behaviour(
  "ADD reads the last of a repeated key, with nothing left of the earlier one",
  {
    ipam: {
      ranges: [[{ subnet: "10.7.0.0/24", gateway: "10.7.0.9" }]],
      Ranges: [[{ subnet: "10.8.0.0/24" }]],
    },
  },
  (t, network) => {
    const { ips } = JSON.parse(network.add("c1").stdout);

    t.strictSame(ips, [{ address: "10.8.0.2/24", gateway: "10.8.0.1" }]);
  },
);

behaviour("ADD hands out what an administrator has freed", { ipam: smallest }, (t, network) => {
  network.add("c1");
  network.machine.remove("net/10.0.0.2");

  t.same(network.add("c2").addresses, ["10.0.0.2"]);
});

behaviour("ADD of a reserved attachment fails and changes nothing", {}, (t, network) => {
  network.add("c1");

  changesNothing(t, network, () => {
    fails(t, network.add("c1"), 999, "10.0.0.2 has been allocated to c1");
  });
});

behaviour(
  "ADD of an attachment with an address in one set fails, and leaves it that address",
  { ipam: dualStack, files: { "2001:db8::6": "c1\r\neth0", "10.9.9.9": "c1\r\neth0" } },
  (t, network) => {
    fails(t, network.add("c1"), 999, /^failed to allocate for range 1: 2001:db8::6 has been/);
    t.same(network.reserved(), ["10.9.9.9", "2001:db8::6"]);
  },
);

behaviour("ADD needs no network namespace that exists", { ipam: five }, (t, network) => {
  t.equal(network.add("c1", { netns: "/no/such" }).exitCode, 0);
  changesNothing(t, network, () => {
    fails(t, network.add("c2", { netns: "/proc/self/ns/net" }), 8);
  });
});
