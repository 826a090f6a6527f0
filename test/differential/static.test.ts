// test: each executable, one if short, portable in short, Go plugin, slow
/**
 * Makes random calls to the `static` plugin of both projects: the same exit codes, results and errors are expected.
 *
 * HOST_LOCAL_SEED repeats a run, HOST_LOCAL_STEPS sets its length.
 */

import { test } from "tap";
import { comparable } from "../blackbox/comparison.ts";
import { staticLink } from "../blackbox/static/link.ts";
import { isPortable, start } from "../harness/executable.ts";
import { extent } from "../harness/extent.ts";
import { goStatic, skipWithoutGoStatic } from "../harness/go-plugin.ts";
import { type Random, randomFrom } from "../harness/random.ts";
import { attachmentCall, type JsonObject } from "../harness/runtime-call.ts";
import { seed } from "../harness/seed.ts";

const { HOST_LOCAL_STEPS } = process.env;
const calls = Number(HOST_LOCAL_STEPS ?? (extent === "short" || isPortable ? 100 : 1000));

const versions = ["", "0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"];
/** Addresses with prefix lengths; the last ones are errors. */
const prefixes = [
  "198.51.100.1/24",
  "198.51.100.2/24",
  "198.18.0.0/16",
  "0.0.0.0/0",
  "2001:DB8::0001/64",
  "2001:db8::/32",
  "::ffff:198.51.100.1/120",
  "::ffff:198.51.100.9/64",
  "198.51.100.1",
  "",
  "198.51.100.1/33",
  "zz",
];
const good = prefixes.slice(0, 8);
const gateways = [
  "198.51.100.254",
  "198.18.3.4",
  "2001:db8:1::1",
  "2001:db8::1",
  "::ffff:198.51.100.254",
];

function randomIP(random: Random): string {
  return random.pick(random.chance(5) ? prefixes : good);
}

function several<T>(random: Random, most: number, make: () => T): T[] {
  return Array.from({ length: random.integer(most + 1) }, make);
}

function randomAddress(random: Random): JsonObject | null {
  if (random.chance(2)) return random.pick([null, {}]);
  const key = random.chance(5) ? "ADDRESS" : "address";
  const gateway = random.chance(3) ? random.pick(["", "x", null]) : random.pick(gateways);
  return { [key]: randomIP(random), ...(random.chance(60) ? { gateway } : {}) };
}

function randomIpam(random: Random): JsonObject {
  const routes = [
    { dst: "0.0.0.0/0" },
    { dst: "198.18.0.5/8", gw: "198.51.100.254" },
    { dst: "::/0", mtu: 9 },
  ];
  const dns = [
    {},
    { nameservers: ["192.0.2.53", null] },
    { domain: "a<b", search: ["x"] },
    { options: "x" },
  ];
  return {
    type: "static",
    ...(random.chance(80) ? { addresses: several(random, 3, () => randomAddress(random)) } : {}),
    ...(random.chance(40) ? { routes: several(random, 3, () => random.pick(routes)) } : {}),
    ...(random.chance(30) ? { dns: random.pick(dns) } : {}),
  };
}

function randomArguments(random: Random): string {
  const list = (make: () => string) => several(random, 2, make).join(random.pick([",", ", "]));
  const pairs = [
    ...(random.chance(70) ? [`IP=${list(() => randomIP(random))}`] : []),
    ...(random.chance(60) ? [`GATEWAY=${list(() => random.pick(gateways))}`] : []),
    ...(random.chance(20) ? ["IgnoreUnknown=1", "K8S_POD_NAME=p"] : []),
    ...(random.chance(3) ? [random.pick(["GATEWAY=zz", "IP", "X=y", ""])] : []),
  ];
  return pairs.join(";");
}

function randomPreviousResult(random: Random): JsonObject {
  if (random.chance(5)) return {};
  if (random.chance(5)) return { prevResult: random.pick(["x", [], null]) };
  const ips = several(random, 3, () => ({
    address: random.pick(random.chance(95) ? good : ["zz"]),
    ...(random.chance(80) ? { gateway: random.pick(gateways) } : {}),
  }));
  const cniVersion = random.chance(30) ? {} : { cniVersion: random.pick(versions) };
  return { prevResult: { ...cniVersion, ...(random.chance(95) ? { ips } : {}) } };
}

function randomCall(random: Random): ReturnType<typeof attachmentCall> {
  const ips = () => several(random, 2, () => randomIP(random));
  const document = {
    cniVersion: random.pick(versions),
    name: "net",
    ...(random.chance(98) ? { ipam: randomIpam(random) } : {}),
    ...(random.chance(15) ? { args: { cni: { ips: ips() } } } : {}),
    ...(random.chance(15)
      ? { [random.pick(["runtimeConfig", "RuntimeConfig"])]: { ips: ips() } }
      : {}),
    ...randomPreviousResult(random),
  };
  const cniArgs = random.chance(40) ? randomArguments(random) : "";
  const verb = random.pick(["ADD", "ADD", "ADD", "CHECK", "CHECK", "DEL"] as const);
  return attachmentCall(verb, { containerId: "c1", cniArgs }, document);
}

test("the executable and the Go plugin static agree on every call", {
  skip: skipWithoutGoStatic,
}, async (t) => {
  t.comment(`seed ${seed}: HOST_LOCAL_SEED=${seed} HOST_LOCAL_STEPS=${calls} repeats this run`);
  const random = randomFrom(seed);
  const program = staticLink(t);
  let succeeded = 0;
  for (let at = 0; at < calls; at++) {
    const call = randomCall(random);
    const [here, reference] = await Promise.all([start(program, call), start(goStatic, call)]);
    if (reference.exitCode === 0 && reference.stdout !== "") succeeded += 1;
    t.strictSame(comparable(here, reference), comparable(reference, reference), `call ${at + 1}`, {
      call: JSON.stringify(call),
      found: here.stdout,
    });
  }
  t.comment(`${calls} calls, ${succeeded} with a result`);
  t.ok(succeeded > calls / 6, "many of them have a result");
});
