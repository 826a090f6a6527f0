// test: each executable, Go plugin
/** With `"sticky": "pod"` a pod that comes back gets its address; with `reuseDelaySeconds` addresses rest. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "tap";
import { extent } from "../harness/extent.ts";
import { byGoPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { readError } from "../harness/printed-error.ts";
import { randomFrom } from "../harness/random.ts";
import type { Json } from "../harness/runtime-call.ts";
import { seed } from "../harness/seed.ts";
import { grantedAddresses, type Network, networkFor } from "./network.ts";

/** Five addresses, 10.49.0.2 to 10.49.0.6. */
const subnet = "10.49.0.0/29";

/** The options of a call for a pod. */
function pod(name: string): { readonly cniArgs: string } {
  return { cniArgs: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name}` };
}

/** Adds containers of no pod until the range is full. */
function fill(network: Network): readonly string[] {
  const given: string[] = [];
  for (let at = 0; at <= 5; at++) {
    const [address] = grantedAddresses(network.add(`filler-${at}`));
    if (address === undefined) return given;
    given.push(address);
  }
  throw new Error(`more than there are: ${given}`);
}

test("a pod that comes back gets its address, which others take only if nothing else is free", (t) => {
  const network = networkFor(t, { subnet, sticky: "pod" });
  network.add("other");
  t.same(grantedAddresses(network.add("a1", pod("web-0"))), ["10.49.0.3"]);
  network.add("b1", pod("web-1"));
  network.del("a1", pod("web-0"));
  network.del("b1", pod("web-1"));

  t.same(grantedAddresses(network.add("a2", pod("web-0"))), ["10.49.0.3"]);
  t.same(fill(network), ["10.49.0.5", "10.49.0.6", "10.49.0.4"]);
  const refused = network.add("b2", pod("web-1"));
  t.match(readError(refused.stdout)?.msg, "no IP addresses available");
  t.end();
});

test("it has its addresses back in both families, also after a GC and by another container", (t) => {
  const ranges = [[{ subnet }], [{ subnet: "2001:db8:49::/125" }]];
  const network = networkFor(t, { ranges, sticky: "pod" });
  network.add("other");
  const first = grantedAddresses(network.add("a1", pod("web-0")));
  network.gc({ "cni.dev/valid-attachments": [] });
  network.add("next");

  t.same(grantedAddresses(network.add("a2", pod("web-0"))), first);
  t.equal(first.length, 2);
  t.end();
});

test("after stickySeconds the address is as any other", async (t) => {
  const network = networkFor(t, { subnet, sticky: "pod", stickySeconds: 0.3 });
  network.add("a1", pod("web-0"));
  network.del("a1", pod("web-0"));
  await pause(310);

  t.same(grantedAddresses(network.add("a2", pod("web-0"))), ["10.49.0.3"]);
  t.same(fill(network), ["10.49.0.4", "10.49.0.5", "10.49.0.6", "10.49.0.2"]);
});

test("an address that the Go plugin released is its pod's, too", {
  skip: skipWithoutGoPlugin,
}, (t) => {
  const network = networkFor(t, { subnet, sticky: "pod" });
  network.add("a1", pod("web-0"));
  network.del("a1", { ...byGoPlugin, ...pod("web-0") });
  network.add("other");

  t.same(grantedAddresses(network.add("a2", pod("web-0"))), ["10.49.0.2"]);
  t.end();
});

/** How long an address rests in the churn, in milliseconds. */
const DELAY = 500;

/** How long the churn lasts, in milliseconds. */
const CHURN = extent === "short" ? 1300 : 10_000;

test("a /29 under churn: none is used again within the delay while another is free, no ADD fails", async (t) => {
  const network = networkFor(t, { subnet, reuseDelaySeconds: DELAY / 1000 });
  const random = randomFrom(seed);
  const held = new Map<string, string>();
  /** The free addresses, with the times before and after their release. */
  const free = new Map<string, { readonly from: number; readonly to: number }>();
  for (let last = 2; last <= 6; last++) free.set(`10.49.0.${last}`, { from: -DELAY, to: -DELAY });
  const end = performance.now() + CHURN;
  for (let at = 0; performance.now() < end; at++) {
    const before = performance.now();
    const [address = ""] = grantedAddresses(network.add(`c${at}`));
    const after = performance.now();
    const own = free.get(address);
    t.ok(own, `ADD ${at} gets ${address || "none"}`);
    free.delete(address);
    held.set(address, `c${at}`);
    const isEarly = after - (own?.from ?? 0) < DELAY;
    // Those that had rested, or were released before this one.
    const better = [...free].filter(
      ([, { to }]) => before - to > DELAY || to < (own?.from ?? after),
    );
    t.ok(!isEarly || better.length === 0, `${better.map(([one]) => one)} instead of ${address}`);
    while (held.size > 2) {
      const [one, containerId] = random.pick([...held]);
      const from = performance.now();
      network.del(containerId);
      free.set(one, { from, to: performance.now() });
      held.delete(one);
    }
    await pause(50);
  }
});

test("the longest released is used first if none has rested, a pod's own at once", (t) => {
  const network = networkFor(t, { subnet, sticky: "pod", reuseDelaySeconds: 600 });
  network.add("a1", pod("web-0"));
  network.add("b1", pod("web-1"));
  const others = fill(network);
  for (const at of [2, 0, 1]) network.del(`filler-${at}`);
  network.del("b1", pod("web-1"));
  network.del("a1", pod("web-0"));

  t.same(grantedAddresses(network.add("a2", pod("web-0"))), ["10.49.0.2"]);
  t.same(fill(network), [others[2], others[0], others[1], "10.49.0.3"]);
  t.end();
});

test("a release by the Go plugin counts from when it is noticed", {
  skip: skipWithoutGoPlugin,
}, (t) => {
  const network = networkFor(t, { subnet, reuseDelaySeconds: 600 });
  network.add("c0");
  network.add("c1");
  network.del("c0", byGoPlugin);
  t.same(fill(network), ["10.49.0.4", "10.49.0.5", "10.49.0.6", "10.49.0.2"]);

  network.del("filler-2");
  network.del("filler-0", byGoPlugin);
  t.same(grantedAddresses(network.add("d0")), ["10.49.0.6"], "released before");
  t.same(grantedAddresses(network.add("d1")), ["10.49.0.4"], "and no ADD fails");
  t.end();
});

test("without the keys nothing is noted, and a cooling address is the next in turn", (t) => {
  const network = networkFor(t, { subnet });
  network.add("a1", pod("web-0"));
  network.del("a1", pod("web-0"));

  t.same(grantedAddresses(network.add("a2", pod("web-0"))), ["10.49.0.3"]);
  const files = readdirSync(join(network.directory, ".host-local/net"));
  t.notOk(files.includes("sticky") || files.includes("released"), `${files}`);
  t.end();
});

const invalid: readonly (readonly [key: string, value: Json])[] = [
  ...["node", "", true, 1, ["pod"]].map((value) => ["sticky", value] as const),
  ...[-1, "30", true, []].map((value) => ["reuseDelaySeconds", value] as const),
  ...[-1, "60"].map((value) => ["stickySeconds", value] as const),
];

test("a value of another type is an error that names the key, and DEL works", (t) => {
  for (const [key, value] of invalid) {
    const network = networkFor(t, { subnet, sticky: "pod", [key]: value });

    const error = readError(network.add("c1").stdout);

    t.equal(error?.code, 999, `${key} ${JSON.stringify(value)}`);
    t.match(`${error?.msg} ${error?.details}`, key);
    t.equal(network.del("c1").exitCode, 0);
  }
  t.end();
});
