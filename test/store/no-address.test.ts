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

test("the advice names a data directory that is not the default, quoted for a shell", async (t) => {
  for (const [dataDir, word] of [
    ["/srv/networks/", "/srv/networks"],
    ["/srv/pod networks", "'/srv/pod networks'"],
    ["/srv/it's", "'/srv/it'\\''s'"],
  ] as const) {
    t.match(
      adviceFor("c1", { ipam: { dataDir } }),
      `run \`host-local check net --data-dir ${word}\`: `,
    );
  }
});

test("check says whether dead containers hold the addresses", async (t) => {
  const advice =
    "Next: run `host-local check net`: it says whether dead containers hold addresses, DELs fail, or the range is too small";
  t.equal(
    adviceFor("c1", { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web" }),
    advice,
  );
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/30" });
  network.add("other");
  t.ok(network.strictStatus().error?.details?.endsWith(advice));
});

test("if every address is excluded, or only the gateway is left, the configuration is wrong", async (t) => {
  for (const [ipam, msg, details] of [
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
    const added = network.add("c1").error;
    t.match(added, { code: 999, details });
    t.notMatch(added?.details, "0 of 0");
    t.match(added?.msg, `no IP addresses available in range set: ${msg}`);
    t.same(network.status().error, {
      code: 50,
      msg: `no IP addresses available in range set: ${msg}`,
      details,
    });
  }
});
