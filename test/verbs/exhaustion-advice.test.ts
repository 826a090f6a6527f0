import { test } from "tap";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { type CallOptions, Network } from "../harness/network.ts";

/** What the error of an ADD to a full range advises. */
function adviceFor(containerId: string, options: CallOptions = {}): string {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/30", ...options.ipam });
  network.add("other");
  const details = network.add(containerId, options).error?.details ?? "";
  return details.slice(details.indexOf("Next: "));
}

const sandbox = "ab".repeat(32);

const runtimes: readonly (readonly [
  runtime: string,
  containerId: string,
  args: string,
  source: string,
])[] = [
  [
    "Kubernetes",
    sandbox,
    "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=1",
    " --live-command 'crictl pods -q'",
  ],
  [
    "podman 4",
    sandbox,
    "IgnoreUnknown=1;K8S_POD_NAME=web",
    " --live-command 'podman ps -aq --no-trunc'",
  ],
  [
    "podman 3",
    sandbox,
    "IgnoreUnknown=1;K8S_POD_NAMESPACE=web;K8S_POD_NAME=web",
    " --live-command 'podman ps -aq --no-trunc'",
  ],
  [
    "ctr and nerdctl",
    `default-${sandbox}`,
    "",
    " --live-command 'ns=$(ctr namespaces ls -q) && for n in $ns; do ctr -n $n containers ls -q | sed s/^/$n-/ || exit; done'",
  ],
  ["cnitool", `cnitool-${sandbox}`, "", ""],
  ["a runtime that cannot be known", sandbox, "", ""],
  ["a runtime with UUIDs", "01234567-89ab-cdef-0123-456789abcdef", "", ""],
];

for (const [runtime, containerId, cniArgs, source] of runtimes) {
  test(`the advice names the list of ${runtime}`, (t) => {
    t.equal(
      adviceFor(containerId, { cniArgs }),
      `Next: host-local list net names the holders, host-local gc net${source} those that are dead; if all are alive, the range is too small`,
    );
    t.end();
  });
}

test("the advice names a data directory that is not the default, quoted for a shell", (t) => {
  for (const [dataDir, word] of [
    ["/srv/networks/", "/srv/networks"],
    ["/srv/pod networks", "'/srv/pod networks'"],
    ["/srv/it's", "'/srv/it'\\''s'"],
  ] as const) {
    t.match(
      adviceFor("c1", { ipam: { dataDir } }),
      `host-local list net --data-dir ${word} names the holders, host-local gc net --data-dir ${word} those`,
    );
  }
  t.end();
});

test("STATUS, which names no container, names no list", (t) => {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/30" });
  network.add("other");

  t.match(network.strictStatus().error?.details, "host-local gc net those that are dead");
  t.end();
});

test("where every address is excluded, or only the gateway is left, the configuration is to be corrected", (t) => {
  for (const [ipam, msg, advice] of [
    [
      { subnet: "10.0.0.0/29", exclude: ["10.0.0.0/29"] },
      "10.0.0.1-10.0.0.6",
      "ipam.exclude leaves no address to hand out; correct it",
    ],
    [
      { subnet: "10.0.0.0/29", rangeEnd: "10.0.0.1" },
      "10.0.0.1-10.0.0.1",
      "the range has no address but the gateway's; correct it",
    ],
  ] as const) {
    const network = new Network(new MemoryMachine(), ipam);
    const details = `${msg}: 0 of 0 addresses in use; reservations are in /var/lib/cni/networks/net. ${advice}`;
    const added = network.add("c1").error;
    t.match(added, { code: 999, details });
    t.match(added?.msg, `no IP addresses available in range set: ${msg}`);
    t.same(network.status().error, {
      code: 50,
      msg: `no IP addresses available in range set: ${msg}`,
      details,
    });
  }
  t.end();
});
