/** What must hold after a fault, whatever it was. */

import { DATA_DIRECTORY } from "../../harness/memory-machine.ts";
import type { Network } from "../../harness/network.ts";
import { type Kind, Verifier } from "../../harness/violations.ts";
import type { Scenario } from "./scenarios.ts";

/** What a reservation by anybody here looks like when it is whole. */
const WHOLE = /^(?:victim|neighbour[a-z0-9-]*)\r\neth0$/;

/** The reservations of the victim, by address. */
export function heldByVictim(network: Network): readonly string[] {
  return Object.entries(network.reservations())
    .filter(([, content]) => content.startsWith("victim"))
    .map(([address]) => address);
}

/**
 * Lives on after the victim's call: others come, the victim is deleted, time passes, the ranges fill up.
 *
 * @param before what is reserved beside the victim's own: for neighbours, or by empty files
 * @returns every promise that was broken, in words that begin with its kind
 */
export function brokenPromises(
  network: Network,
  before: Readonly<Record<string, string>>,
  { verb, hardLinks, sets, addresses }: Scenario,
): readonly string[] {
  const verifier = new Verifier();
  const expect = (holds: boolean, kind: Kind, promise: string): void =>
    verifier.require(holds, kind, promise);
  const neighbours = Object.entries(before).filter(([, owner]) => owner.startsWith("neighbour"));

  if (hardLinks) {
    for (const [address, content] of Object.entries(network.reservations())) {
      const wasThere = before[address] === content;
      expect(
        wasThere || WHOLE.test(content),
        "torn",
        `${address} is whole, found ${JSON.stringify(content)}`,
      );
    }
  }

  if (verb === "ADD") {
    const lost = Object.entries(before).filter(
      ([address, owner]) =>
        owner !== "" &&
        !owner.startsWith("earlier") &&
        network.reservations()[address] === undefined,
    );
    expect(lost.length === 0, "double", `an ADD releases nothing from before, found ${lost}`);
  }

  const newcomer = network.add("newcomer");
  expect(newcomer.exitCode === 0, "blocked", `another ADD works at once, found ${newcomer.stdout}`);

  const release = network.del("victim");
  expect(release.exitCode === 0, "leak", `the victim's DEL works, found ${release.stdout}`);
  expect(
    heldByVictim(network).length === 0,
    "leak",
    `nothing is left of it, found ${heldByVictim(network)}`,
  );

  // What a kill leaves half written, where there are no hard links, is nobody's that lives.
  if (!hardLinks) {
    const owners = neighbours.map(([, owner]) => owner.replace("\r\n", " "));
    network.gc([...owners, "newcomer eth0"]);
  }
  network.machine.wait(61_000);
  network.del("newcomer");
  const given = sets.flatMap((set) => fill(network, set));
  const all = [...given, ...neighbours.map(([address]) => address)].sort();
  expect(
    all.every((address, at) => addresses.includes(address) && all.indexOf(address) === at),
    "double",
    `each is handed out once, found ${all}`,
  );
  expect(
    addresses.every((address) => all.includes(address)),
    "leak",
    `all can be handed out, found ${all}`,
  );
  for (const [address, owner] of neighbours) {
    expect(network.reservations()[address] === owner, "double", `the neighbour keeps ${address}`);
  }

  const own = Object.keys(network.machine.disk.filesUnder(`${DATA_DIRECTORY}/.host-local/net/new`));
  expect(own.length === 0, "leak", `ADD sweeps temporary files, found ${own}`);
  network.gc([]);
  const beside = Object.keys(network.machine.disk.filesUnder(network.directory)).filter((name) =>
    name.startsWith(".host-local-"),
  );
  expect(beside.length === 0, "leak", `GC sweeps temporary files, found ${beside}`);
  return verifier.violations.map(({ kind, detail }) => `${kind}: ${detail}`);
}

/** No set here has more addresses. */
const ENOUGH = 1000;

/** Adds attachments to one range set until there is no address left. */
function fill(network: Network, set: readonly object[]): readonly string[] {
  const addresses: string[] = [];
  while (addresses.length < ENOUGH) {
    const answer = network.add("filler", {
      interfaceName: `if${addresses.length}`,
      ipam: { ranges: [set] },
    });
    if (answer.error?.msg.includes("no IP addresses available")) return addresses;
    if (answer.exitCode !== 0) throw new Error(answer.stdout);
    addresses.push(...answer.addresses);
  }
  throw new Error(`a set that is never full: ${JSON.stringify(set)}`);
}
