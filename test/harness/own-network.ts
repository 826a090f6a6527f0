/** Addresses for the network namespaces of a test: a reader of /proc finds the addresses of every test that runs meanwhile. */

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Test } from "tap";

/**
 * The networks of one test alone, from the ranges for benchmarks and documentation (RFC 2544, RFC 3849), which no machine has.
 */
export interface OwnNetwork {
  /** The first three octets of a /24, such as `198.18.7`. */
  readonly ipv4: string;
  /** The first three groups of a /48, such as `2001:db8:7`. */
  readonly ipv6: string;
}

/** The number of /24 networks in 198.18.0.0/15. */
const COUNT = 512;

/** Takes a network that no other test in this network namespace has until this test ends, of another clone or user either. */
export async function ownNetwork(t: Pick<Test, "teardown">): Promise<OwnNetwork> {
  const start = randomInt(COUNT);
  for (let tried = 0; tried < COUNT; tried++) {
    // The canonical form of an IPv6 address has no group 0 beside "::".
    const number = 1 + ((start + tried) % (COUNT - 1));
    const claim = createServer();
    try {
      // The kernel gives an abstract name once, and takes it back with the process.
      await once(claim.listen(`\0host-local-test-network-${number}`), "listening");
    } catch {
      continue;
    }
    claim.unref();
    t.teardown(() => claim.close());
    return {
      ipv4: `198.${18 + Math.floor(number / 256)}.${number % 256}`,
      ipv6: `2001:db8:${number.toString(16)}`,
    };
  }
  throw new Error("Other tests have all networks.");
}
