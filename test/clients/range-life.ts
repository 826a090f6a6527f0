/** The life of a small range, the same with every client: a plugin with a fixed answer cannot pass it. */

import type { Test } from "tap";
import type { Host } from "../e2e/host.ts";
import type { Network } from "../e2e/libcni.ts";
import { NetworkNamespace } from "../e2e/network-namespace.ts";
import { until } from "../harness/until.ts";

/** A program that runs containers and attaches them to the network of the host. */
export interface Client {
  /**
   * Starts a container.
   *
   * @throws {Error} with the client's message if it cannot
   */
  start(name: string): Promise<void>;

  /** Ends a container and removes it. */
  stop(name: string): Promise<void>;

  /** The path of a container's network namespace, if the path that the plugin gets is not one of the host. */
  readonly netnsOf?: (name: string) => string;
}

/** Its name in the matrix. */
export const rangeLife = "allocation cycle";

/** A network with five addresses for containers. */
export const network: Network = networkOf("10.61.0.0/29");

/**
 * A network of the `bridge` plugin.
 *
 * @param subnet its subnet
 */
export function networkOf(subnet: string): Network {
  const ranges = [[{ subnet }]];
  const ipam = { type: "host-local", ranges, routes: [{ dst: "0.0.0.0/0" }] };
  return {
    cniVersion: "1.0.0",
    name: "clients",
    plugins: [{ type: "bridge", bridge: "cni-clients", isGateway: true, ipam }],
  };
}

/**
 * Goes through the life of the range of {@link network}.
 *
 * @param t the test
 * @param host the host, with that network configured
 * @param client the client
 */
export async function lifeOfARange(t: Test, host: Host, client: Client): Promise<void> {
  const start = async (name: string): Promise<NetworkNamespace> => {
    await client.start(name);
    const netns = client.netnsOf?.(name);
    return netns === undefined ? lastAttached(host) : new NetworkNamespace(netns);
  };
  const interfaces = host.interfaces();
  const first = await start("first");
  t.same(first.addresses(), ["10.61.0.2/29"], "the first container gets the first address");
  t.same(first.defaultGateways(), ["10.61.0.1"], "the container has the default route");
  const second = await start("second");
  t.same(second.addresses(), ["10.61.0.3/29"], "the second container gets the next address");
  t.ok(second.reaches("10.61.0.2"), "the second container reaches the first");

  await client.stop("second");
  t.notOk("10.61.0.3" in host.reservations(network.name), "its end frees its address");
  const third = await start("third");
  t.same(third.addresses(), ["10.61.0.4/29"], "the order goes on after the last address");

  for (const name of ["fourth", "fifth"]) await start(name);
  const sixth = await start("sixth");
  t.same(sixth.addresses(), ["10.61.0.3/29"], "after the end of the range it begins anew");
  await t.rejects(
    client.start("seventh"),
    /no IP addresses available in range set: 10\.61\.0\.1-10\.61\.0\.6/,
    "a full range is refused in the words of the plugin",
  );
  const names = ["first", "third", "fourth", "fifth", "sixth"];
  t.equal(Object.keys(host.reservations(network.name)).length, names.length, "five are reserved");

  for (const name of names) await client.stop(name);
  t.same(host.reservations(network.name), {}, "nothing stays reserved");
  // The kernel removes the rest of a network namespace some time after its end.
  await until("the end of the interfaces", () => {
    const left = host.interfaces().filter((name) => name !== "cni-clients");
    return left.every((name) => interfaces.includes(name));
  });
}

/**
 * The namespace of the plugin's last successful call.
 *
 * @throws {Error} if there was no such call
 */
export function lastAttached(host: Host): NetworkNamespace {
  const call = host
    .recordedCalls()
    .findLast(({ environment, exitCode }) => environment.CNI_COMMAND === "ADD" && exitCode === 0);
  if (call === undefined) throw new Error("the client has not called the plugin");
  const { CNI_NETNS = "", CNI_IFNAME } = call.environment;
  return new NetworkNamespace(CNI_NETNS, CNI_IFNAME);
}
