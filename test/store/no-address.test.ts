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
