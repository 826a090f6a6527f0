// test: native executable, slow, makes namespaces, mounts
/**
 * What `check` says of bridges and ranges, and what the `bridge` plugin then does, for random configurations and states of the
 * bridge: without a finding the next pods of all ranges get their addresses and reach their gateways, and with one they do not.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { extent } from "../harness/extent.ts";
import { type Random, randomFrom } from "../harness/random.ts";
import type { JsonObject } from "../harness/runtime-call.ts";
import { seed } from "../harness/seed.ts";
import { findings } from "./bridge-node.ts";
import type { Host } from "./host.ts";
import { readNetwork } from "./libcni.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const CASES = { short: 15, full: 300, exhaustive: 1000 }[extent];

/** A subnet, and what the number of an address comes after. */
interface Subnet {
  readonly subnet: string;
  readonly before: string;
  readonly first: number;
}

/** Subnets that share no address. */
const subnets: Readonly<Record<4 | 6, readonly Subnet[]>> = {
  4: [
    { subnet: "10.219.7.0/28", before: "10.219.7.", first: 5 },
    { subnet: "10.219.7.16/28", before: "10.219.7.", first: 21 },
    { subnet: "10.219.8.0/24", before: "10.219.8.", first: 5 },
  ],
  6: [
    // Beyond the /112 around the gateway, which a bridge may have in place of the /64.
    { subnet: "fd00:219:1::/64", before: "fd00:219:1::1:", first: 5 },
    { subnet: "fd00:219:2::/112", before: "fd00:219:2::", first: 5 },
  ],
};

/** Addresses that a bridge may have: gateways with their prefix lengths or others, and addresses beside them. */
const states: Readonly<Record<4 | 6, readonly string[]>> = {
  4: [
    ...["10.219.7.1/28", "10.219.7.1/29", "10.219.7.1/24", "10.219.7.14/28"],
    ...["10.219.7.17/28", "10.219.8.1/24", "10.219.8.254/24", "10.219.11.1/24"],
  ],
  6: ["fd00:219:1::1/64", "fd00:219:1::1/48", "fd00:219:1::ff/64", "fd00:219:2::1/112"],
};

/** A network, the addresses of its bridge, and those that one pod after the other asks for: each range has one. */
interface Case {
  readonly plugin: JsonObject;
  readonly addresses: readonly string[];
  readonly asked: readonly (readonly string[])[];
}

function randomCase(random: Random): Case {
  const left = { 4: [...subnets[4]], 6: [...subnets[6]] };
  const take = (family: 4 | 6) => left[family].splice(random.integer(left[family].length), 1);
  const families: (4 | 6)[] = [random.chance(70) ? 4 : 6];
  if (random.chance(40)) families.push(random.chance(50) ? 4 : 6);
  const sets = families.flatMap((family) => {
    const ranges = [...take(family), ...(random.chance(30) ? take(family) : [])];
    return ranges.length === 0 ? [] : [ranges.map((range) => ({ ...range, family }))];
  });
  const ranges = sets.map((set) => set.map(({ subnet }) => ({ subnet })));
  let pods = 0;
  const addressOf = ({ before, first }: Subnet): string => `${before}${first + pods}`;
  const asked = sets.flatMap((set, at) =>
    set.map((own) => {
      pods++;
      return sets.flatMap((other, i) => (i === at ? [own] : other.slice(0, 1))).map(addressOf);
    }),
  );
  const gateway = random.pick([
    { isGateway: true },
    { isGateway: true },
    { isDefaultGateway: true },
    {},
  ]);
  return {
    plugin: {
      ...{ type: "bridge", bridge: "cni0", ...gateway },
      ...(random.chance(20) ? { forceAddress: true } : {}),
      ipam: { type: "host-local", ranges },
    },
    addresses: random.chance(30)
      ? []
      : ([4, 6] as const).flatMap((family) =>
          Array.from({ length: random.integer(3) }, () => random.pick(states[family])),
        ),
    asked,
  };
}

const run = (...words: readonly string[]): void => {
  const [program = "", ...args] = words;
  execFileSync(program, args, { stdio: "pipe" });
};

/** Whether an address answers a pod; on a busy machine the first answer may be late. */
function answers({ netns }: Pod, address: string): boolean {
  const ping = ["ping", "-n", "-c", "1", "-W", "1", address];
  const isAnswered = (): boolean => spawnSync("nsenter", [`--net=${netns}`, ...ping]).status === 0;
  return isAnswered() || isAnswered();
}

/** What becomes of pods that ask for an address of each range, one after the other, on one bridge. */
function addAll(host: Host, { plugin, asked }: Case): string {
  const pods: Pod[] = [];
  const document = { cniVersion: "1.0.0", name: "net" };
  const networkFor = (ips: readonly string[]) =>
    readNetwork(JSON.stringify({ ...document, plugins: [{ ...plugin, args: { cni: { ips } } }] }));
  const hasGateway = plugin.isGateway === true || plugin.isDefaultGateway === true;
  try {
    const added = asked.map((ips, at) => {
      const pod = new Pod(`pod${at}`);
      pods.push(pod);
      return { pod, ips: host.runtime.add(networkFor(ips), pod).ips ?? [] };
    });
    for (const { pod, ips } of added) {
      for (const { address, gateway } of ips) {
        if (gateway === undefined) continue;
        if (gateway.includes(":") !== address.includes(":")) return `${address} has ${gateway}`;
        if (hasGateway && !answers(pod, gateway)) return `${address} does not reach ${gateway}`;
      }
    }
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    for (const pod of pods) {
      host.runtime.del(networkFor([]), pod);
      pod.remove();
    }
  }
}

scenario(
  "check finds what keeps the pods of a bridge from their addresses and gateways, and nothing else",
  { plugins: ["bridge"], cniVersion: "1.0.0" },
  (t, host) => {
    // What an interface gets is there at once.
    for (const which of ["default", "all"])
      writeFileSync(`/proc/sys/net/ipv6/conf/${which}/accept_dad`, "0");
    mkdirSync("/etc/cni/net.d", { recursive: true });
    const random = randomFrom(seed);
    const outcomes = { fine: 0, found: 0 };
    for (let at = 0; at < CASES; at++) {
      const one = randomCase(random);
      rmSync("/var/lib/cni/networks/net", { recursive: true, force: true });
      run("ip", "link", "add", "cni0", "type", "bridge");
      run("ip", "link", "set", "cni0", "up");
      for (const address of new Set(one.addresses)) {
        const words = ["ip", "addr", "add", address, "dev", "cni0"];
        try {
          run(...words);
        } catch {
          // Of IPv6 an interface has an address once.
        }
      }
      const text = JSON.stringify({ cniVersion: "1.0.0", name: "net", plugins: [one.plugin] });
      writeFileSync("/etc/cni/net.d/net.conflist", text);
      const found = findings().filter(
        ({ code }) => code === "bridge-address" || code === "unusable-range",
      );
      const problem = addAll(host, one);
      run("ip", "link", "delete", "cni0");
      outcomes[problem === "" ? "fine" : "found"]++;
      const said = found.map(({ message }) => message).join("; ");
      const shown = `${text} on ${one.addresses.join(", ")}: ${problem}; found: ${said}`;
      t.equal(found.length > 0, problem !== "", shown);
    }
    t.ok(outcomes.fine > CASES / 10, `${outcomes.fine} are fine`);
    t.ok(outcomes.found > CASES / 10, `${outcomes.found} are not`);
  },
);
