// test: own process
/** Others write during a call that cannot lock them out: afterwards every answer equals that of a full scan. */

import { test } from "tap";
import { extent } from "../../harness/extent.ts";
import { type Interrupt, pauseAt } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { type Answer, type CallOptions, Network } from "../../harness/network.ts";
import { sample } from "../../harness/sample.ts";
import { seed } from "../../harness/seed.ts";
import { brokenAnswers, executables, sets } from "./full-scan.ts";

const portable: CallOptions = { lockKind: "portable" };

const attachments = ["victim eth0", "neighbour eth0", "neighbour-other eth0", "new eth0"];

const acts: readonly (readonly [
  name: string,
  act: (network: Network, options: CallOptions) => Answer,
])[] = [
  ["ADD", (network, options) => network.add("new", options)],
  ["ADD of a duplicate", (network, options) => network.add("victim", options)],
  ["DEL", (network, options) => network.del("victim", options)],
  ["DEL of nothing", (network, options) => network.del("none", options)],
  ["GC", (network, options) => network.gc(["neighbour eth0", "neighbour-other eth0"], options)],
];

/** A process whose ADD reserves its two addresses one after the other, during another call. */
interface Writer {
  readonly name: string;
  /** The executable beside which it runs. */
  readonly beside: CallOptions;
  readonly steps: readonly [(network: Network) => void, (network: Network) => void];
  /** What may be wrong: a repeated ADD gets a second address, which its DEL releases with the first. */
  readonly excused?: string;
}

const OWNER = "neighbour-other\r\neth0";
const [V4, V6] = ["10.0.0.5", "2001:db8::5"] as const;

const writers: readonly Writer[] = [
  {
    name: "the Go plugin",
    beside: portable,
    steps: [(network) => network.put(V4, OWNER), (network) => network.put(V6, OWNER)],
  },
  {
    name: "a call whose lock file was removed",
    beside: {},
    steps: [(network) => network.put(V4, OWNER), (network) => network.put(V6, OWNER)],
    excused: "ADD of neighbour-other eth0 gives another",
  },
];

/** `isForeign`: the journal is behind when the call begins. */
function prepare(isForeign: boolean): Network {
  const network = new Network(new MemoryMachine(), { ranges: sets.map((one) => [one]) });
  network.machine.disk.grain = 4_000_000n;
  network.add("neighbour");
  network.add("victim");
  if (isForeign) network.put("10.9.9.9", "old");
  return network;
}

/** Lets the first step happen before one call, and the second before another or the same. */
function inBetween(network: Network, first: number, second: number, { steps }: Writer): Interrupt {
  return ({ number }) => {
    if (number !== first && number !== second) return undefined;
    const meanwhile = (): void => {
      if (number === first) steps[0](network);
      if (number === second) steps[1](network);
    };
    return { kind: "pause", meanwhile };
  };
}

for (const writer of writers) {
  for (const [verb, act] of acts) {
    for (const isForeign of [false, true]) {
      const world = isForeign ? ", after a foreign write" : "";
      test(`${writer.name} may write at any two system calls of ${verb}${world}`, (t) => {
        const { calls } = act(prepare(isForeign), writer.beside);
        const broken: string[] = [];

        const numbers = calls.map(({ number }) => number);
        const pairs = numbers.flatMap((first) =>
          numbers.filter((second) => second >= first).map((second) => [first, second] as const),
        );
        for (const [first, second] of sample(pairs, extent === "short" ? 10 : 1, seed)) {
          const network = prepare(isForeign);
          const interrupt = inBetween(network, first, second, writer);
          act(network, { ...writer.beside, interrupt });
          // Silence is no proof: what happened then has to be found, too, when the next call comes late.
          network.machine.wait((first + second) % 4 < 2 ? 0 : 31_000);
          const asker = executables[(first + second) % 2];
          const found = brokenAnswers(network, attachments, asker?.options);
          const where = `${first} ${calls[first - 1]?.operation}, ${second} ${calls[second - 1]?.operation}, asked by ${asker?.name}`;
          const { excused } = writer;
          const wrong = found.filter((text) => excused === undefined || !text.startsWith(excused));
          broken.push(...wrong.map((text) => `${where}: ${text}`));
        }

        t.equal(broken.slice(0, 5).join("\n"), "", `${broken.length} are broken`);
        t.end();
      });
    }
  }
}

test("what one GC has found stale may be another's when it comes to it", (t) => {
  const valid = ["neighbour eth0"];
  const { calls } = prepare(false).gc(valid);
  const secondLook = calls.findLast(
    ({ operation, path }) => operation === "readFile" && path.endsWith("/10.0.0.3"),
  );
  const network = prepare(false);
  let granted: readonly string[] = [];

  network.gc(valid, {
    interrupt: pauseAt(secondLook?.number ?? 0, () => {
      network.gc(valid, portable);
      granted = network.add("new", { ...portable, cniArgs: "IP=10.0.0.3" }).addresses;
    }),
  });

  t.equal(granted[0], "10.0.0.3");
  t.equal(network.reservations()["10.0.0.3"], "new\r\neth0");
  t.end();
});
