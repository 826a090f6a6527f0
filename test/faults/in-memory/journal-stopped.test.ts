// test: own process
/** A call is killed, or fails, at any point, then others write without a line in the journal: no answer is wrong. */

import { test } from "tap";
import { extent } from "../../harness/extent.ts";
import { failAfter, stopAt } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { type Answer, type CallOptions, Network } from "../../harness/network.ts";
import { sample } from "../../harness/sample.ts";
import { seed } from "../../harness/seed.ts";
import { brokenAnswers, executables, sets } from "./full-scan.ts";
import { createAsGo } from "./go-writer.ts";

const attachments = ["victim eth0", "neighbour eth0", "neighbour-go eth0", "old eth0"];

const acts: readonly (readonly [
  name: string,
  act: (network: Network, options: CallOptions) => Answer,
])[] = [
  ["ADD", (network, options) => network.add("new", options)],
  ["ADD of a duplicate", (network, options) => network.add("victim", options)],
  [
    "ADD of a second address",
    (network, options) => network.addRequested("victim", ["10.0.0.5", "2001:db8::5"], options),
  ],
  [
    "ADD that gives back",
    (network, options) => network.addRequested("victim", ["10.0.0.5", "2001:db8::2"], options),
  ],
  ["DEL", (network, options) => network.del("victim", options)],
  ["DEL of an old file", (network, options) => network.del("old", options)],
  ["DEL of nothing", (network, options) => network.del("none", options)],
  ["GC", (network, options) => network.gc(["neighbour eth0", "neighbour-go eth0"], options)],
  ["CHECK", (network, options) => network.check("victim", options)],
  ["STATUS", (network, options) => network.strictStatus(options)],
];

/** How the file system keeps time. */
const clocks: readonly (readonly [name: string, set: (machine: MemoryMachine) => void])[] = [
  [
    "a clock of 4 ms",
    ({ disk }) => {
      disk.grain = 4_000_000n;
    },
  ],
  [
    "times in full seconds",
    ({ disk }) => {
      disk.resolution = 1_000_000_000n;
    },
  ],
];

/** What the Go plugin does, which knows nothing of the journal. */
const writers: readonly (readonly [name: string, write: (network: Network) => void])[] = [
  ["nobody", () => {}],
  ["a Go ADD", (network) => createAsGo(network, ["10.0.0.6"])?.write()],
  [
    "a Go DEL",
    ({ machine, directory }) => {
      if (machine.disk.has(`${directory}/10.0.0.2`)) machine.disk.unlink(`${directory}/10.0.0.2`);
    },
  ],
  [
    "a Go DEL and a Go ADD",
    (network) => {
      const { machine, directory } = network;
      if (machine.disk.has(`${directory}/10.0.0.2`)) machine.disk.unlink(`${directory}/10.0.0.2`);
      createAsGo(network, ["10.0.0.2"])?.write();
    },
  ],
];

/** A network that `neighbour`, `victim` and, without an interface, `old` live in; `foreign`: the journal is behind. */
function prepare(
  set: (machine: MemoryMachine) => void,
  isForeign: boolean,
  options: CallOptions,
): Network {
  const network = new Network(new MemoryMachine(), { ranges: sets.map((one) => [one]) });
  set(network.machine);
  network.put("10.9.9.9", "old");
  network.add("neighbour", options);
  network.add("victim", options);
  if (isForeign) network.put("10.9.9.8", "victim\r\neth0");
  return network;
}

for (const [verb, act] of acts) {
  for (const [clock, set] of clocks) {
    for (const executable of executables) {
      for (const isForeign of [false, true]) {
        const world = `${executable.name}, ${clock}${isForeign ? ", after a foreign write" : ""}`;
        test(`${verb} may be stopped or fail anywhere, and others may write at once: ${world}`, (t) => {
          const { options } = executable;
          const { calls } = act(prepare(set, isForeign, options), options);
          const broken: string[] = [];

          const numbers = Array.from({ length: calls.length + 1 }, (_, at) => at + 1);
          for (const number of sample(numbers, extent === "short" ? 8 : 1, seed)) {
            for (const interrupt of [stopAt(number), failAfter(number, "EIO")]) {
              const network = prepare(set, isForeign, options);
              act(network, { ...options, interrupt });
              for (const [at, [writer, write]] of writers.entries()) {
                // Either executable asks after every call and every writer, in one world or the other.
                const asker = executables[(number + at + (isForeign ? 1 : 0)) % 2] ?? executable;
                const found = network.machine.try(() => {
                  write(network);
                  return brokenAnswers(network, attachments, asker.options);
                });
                const where = `${number} ${calls[number - 1]?.operation ?? "not"}, then ${writer}, asked by ${asker.name}`;
                broken.push(...found.map((text) => `${where}: ${text}`));
              }
            }
          }

          t.equal(broken.join("\n"), "");
          t.end();
        });
      }
    }
  }
}
