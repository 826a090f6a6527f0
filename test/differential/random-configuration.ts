/** Random network configurations, and addresses that are interesting for them. */

import { SUPPORTED_VERSIONS } from "../../src/cni/version.ts";
import type { ownKeys } from "../../src/ipam/config.ts";
import type { Random } from "../harness/random.ts";
import type { Json, JsonObject } from "../harness/runtime-call.ts";

/** A range with the facts about it. */
export interface RandomRange {
  readonly json: JsonObject;
  readonly family: 4 | 6;
  /** The offsets into the subnet between which addresses are handed out. */
  readonly first: number;
  readonly last: number;
  /** The address at an offset into the subnet, in canonical form. */
  readonly addressAt: (offset: number) => string;
}

/** A configuration with the facts about it. */
export interface RandomConfiguration {
  /** The document; `@D@` stands for the data directory. */
  readonly document: JsonObject;
  readonly sets: readonly (readonly RandomRange[])[];
}

/** Valid values of the keys that the Go plugin does not know; the first one is not the default. */
export const ownValues: Readonly<Record<(typeof ownKeys)[number], readonly Json[]>> = {
  exclude: [["198.18.0.2"], [], ["198.18.0.0/29", "2001:db8:1::2"]],
  reserved: [{ "198.18.0.2": null }, { "198.18.0.4": "n/p", "2001:db8:1::/125": "default/db-0" }],
  requested: [{ by: ["example.com/ip"] }, { by: ["IP", "ips"] }],
  rangesFile: ["/etc/ranges.json", "", "/dev/zero", "ranges.json"],
  partition: [
    { subnetFile: "/run/flannel/subnet.env" },
    { subnetFile: "/no/subnet.env", ranges: [[{ subnet: "198.18.0.0/24" }]] },
    { network: "net", clusterCidr: "198.18.0.0/15", confDir: "/no" },
  ],
  repeatedAdd: ["same", "error"],
  history: [true, false, {}, { maxBytes: 4096 }, { maxBytes: 64 }],
  reclaim: ["never", "whenFull"],
  reuseDelaySeconds: [30, 0, 0.5, 1e300, "conntrack"],
  sticky: ["pod", "none", { by: ["K8S_POD_NAME"] }],
  stickySeconds: [1, 0, 60, 1e300],
  exhaustedStatus: ["unavailable", "ready"],
  lockTimeoutSeconds: [1, 0, 0.5],
};

/** The placeholder for the data directory, which differs between the two plugins. */
export const placeholder = "@D@";

/**
 * Makes a configuration that is valid or slightly wrong.
 *
 * @param random the choices
 * @param name the network's name
 */
export function randomConfiguration(random: Random, name: string): RandomConfiguration {
  const sets = randomSets(random);
  const inRuntime = sets.length > 1 && random.chance(15) ? 1 : 0;
  const isLegacy = sets[0]?.length === 1 && inRuntime === 0 && random.chance(50);
  const listed = sets
    .slice(inRuntime + (isLegacy ? 1 : 0))
    .map((set) => set.map(({ json }) => json));
  const document: JsonObject = {
    ...randomVersion(random),
    name,
    type: "bridge",
    ipam: {
      type: "host-local",
      dataDir: random.chance(10) ? `${placeholder}//./x/..` : placeholder,
      ...(isLegacy ? sets[0]?.[0]?.json : {}),
      ...(listed.length > 0 ? { ranges: listed } : {}),
      ...(random.chance(30) ? { routes: randomRoutes(random) } : {}),
      ...(random.chance(20) ? { resolvConf: `${placeholder}/resolv.conf` } : {}),
    },
    ...(inRuntime > 0
      ? {
          runtimeConfig: {
            ipRanges: sets.slice(0, inRuntime).map((set) => set.map(({ json }) => json)),
          },
        }
      : {}),
    ...(random.chance(20) ? { prevResult: { cniVersion: "garbage" }, dns: { domain: "x" } } : {}),
  };
  return { document, sets };
}

function randomVersion(random: Random): JsonObject {
  if (random.chance(10)) {
    return random.chance(50) ? {} : { cniVersion: "" };
  }
  const wrong = ["2.0.0", "0.9.0", "1.0", "1.1.1", "asdf"];
  return { cniVersion: random.pick(random.chance(3) ? wrong : SUPPORTED_VERSIONS) };
}

function randomSets(random: Random): RandomRange[][] {
  const families = random.pick<readonly (4 | 6)[]>([[4], [4], [4], [6], [4, 6], [6, 4], [4, 4]]);
  return families.map((family, set) => {
    const count = random.chance(20) ? 2 + random.integer(2) : 1;
    return Array.from({ length: count }, (_, range) => {
      // Sometimes the same subnet comes again, which is an error.
      const block = random.chance(3) ? 0 : 10 * set + range;
      return family === 4 ? randomRange4(random, block) : randomRange6(random, block);
    });
  });
}

/** The prefix length of which 198.18.0.0/15 has enough blocks. */
const LARGEST_BLOCK = 19;

function randomRange4(random: Random, block: number): RandomRange {
  const length = random.pick([LARGEST_BLOCK, 24, 27, 28, 28, 29, 29, 29, 30, 30]);
  const size = 2 ** (32 - length);
  const start =
    2 ** (32 - LARGEST_BLOCK) * block +
    (length === LARGEST_BLOCK ? 0 : size * random.integer(Math.min(2, 256 / size)));
  const addressAt = (offset: number): string => {
    const at = start + offset;
    return `198.${18 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`;
  };
  return randomWindow(random, {
    subnet: `${addressAt(0)}/${length}`,
    family: 4,
    size,
    addressAt,
  });
}

function randomRange6(random: Random, block: number): RandomRange {
  const length = random.pick([64, 120, 124, 125, 125, 126, 126]);
  const addressAt = (offset: number) =>
    `2001:db8:${(block + 1).toString(16)}::${offset === 0 ? "" : offset.toString(16)}`;
  return randomWindow(random, {
    subnet: `${addressAt(0)}/${length}`,
    family: 6,
    size: Math.min(2 ** (128 - length), 4096),
    addressAt,
  });
}

interface Subnet {
  readonly subnet: string;
  readonly family: 4 | 6;
  readonly size: number;
  readonly addressAt: (offset: number) => string;
}

function randomWindow(random: Random, { subnet, family, size, addressAt }: Subnet): RandomRange {
  const defaultLast = family === 4 ? size - 2 : size - 1;
  const last = random.chance(30) ? random.integer(size) : undefined;
  // A rangeStart above the default end is refused here: see "rangeStart may not lie above the
  // default end of the range" in blackbox/differences.ts.
  const first = random.chance(30) ? random.integer((last ?? defaultLast) + 1) : undefined;
  return {
    json: {
      subnet,
      ...(first === undefined ? {} : { rangeStart: addressAt(first) }),
      ...(last === undefined ? {} : { rangeEnd: addressAt(last) }),
      ...randomGateway(random, { subnet, family, size, addressAt }),
    },
    family,
    first: first ?? 1,
    last: last ?? defaultLast,
    addressAt,
  };
}

function randomGateway(random: Random, { size, addressAt }: Subnet): JsonObject {
  if (random.chance(70)) {
    return {};
  }
  return {
    gateway: random.chance(70)
      ? addressAt(random.integer(Math.min(size, 16)))
      : random.pick(["203.0.113.1", "2001:db8:ffff::1", "", null, "::ffff:198.18.0.3"]),
  };
}

function randomRoutes(random: Random): JsonObject[] {
  const routes: readonly JsonObject[] = [
    { dst: "0.0.0.0/0" },
    { dst: "::/0" },
    { dst: "198.18.0.5/8", gw: "198.18.0.1" },
    { dst: "2001:0DB8::/32", gw: "2001:db8::0001" },
    { dst: "198.19.0.0/16", gw: "" },
    { dst: "198.16.0.0/12", mtu: 1400, advmss: 1340, priority: 100, table: 50, scope: 253 },
    { dst: "198.18.0.0/16", mtu: 0, table: 0, scope: null },
  ];
  return Array.from({ length: random.integer(4) }, () => random.pick(routes));
}
