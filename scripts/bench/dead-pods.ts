/** An ADD in a full range all of whose reservations are of pods whose network namespace is gone. */

import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprintOf } from "../../src/store/files/fingerprint.ts";
import { openNetwork } from "../../src/store/files/network-files.ts";
import { sealJournal } from "../../src/store/journal/journal-file.ts";
import { formatRecorded } from "../../src/store/journal/record.ts";
import { keyOf } from "../../src/store/reservations/owner.ts";
import { readOwner } from "../../src/store/reservations/reservation-file.ts";
import { createNodeSystem } from "../../src/system/node/node-system.ts";
import { grouped, median, type Row } from "./measure.ts";
import type { Runner } from "./runner.ts";
import { contender, reserve, setCursor } from "./store.ts";

const ROUNDS = 3;

/**
 * Measures it with 250 and with 60 000 reservations, each time in a new store. The Go plugin refuses such an ADD.
 *
 * @param directory where to put the stores
 * @throws where an address is not reclaimed, as outside of the node's first PID namespace
 */
export function deadPods(run: Runner, executable: string, directory: string): readonly Row[] {
  return [250, 60_000].map((reservations) => {
    const outcomes = Array.from({ length: ROUNDS }, () => {
      const configuration = fullOfDead(executable, directory, reservations);
      const outcome = run({ executable, configuration, verb: "ADD" }, 1);
      if (outcome.status !== 0) throw new Error(`ADD went wrong: ${JSON.stringify(outcome)}`);
      return outcome;
    });
    return {
      title: `ADD at ${grouped(reservations)}: full of dead pods`,
      milliseconds: { native: median(outcomes.map((outcome) => outcome.milliseconds)) },
      megabytes: { native: median(outcomes.map((outcome) => outcome.megabytes)) },
    };
  });
}

/** Makes a store whose range ends with the last reservation, each with a record; returns its configuration. */
function fullOfDead(executable: string, directory: string, reservations: number): string {
  const { store } = contender("native", executable, directory);
  reserve(store, 0, reservations);
  setCursor(store, reservations - 1);
  const network = JSON.parse(store.configuration);
  const last = reservations + 1;
  const ipam = { ...network.ipam, rangeEnd: `10.1.${last >> 8}.${last & 255}` };
  const namespaces = mkdtempSync(join(directory, "netns"));
  const system = createNodeSystem();
  const hasHandles = system.namespaceHandle("/proc/self/ns/net") !== undefined;
  const files = openNetwork(system, ipam.dataDir, network.name);
  const { state, lockFile } = files;
  const boot = files.boot();
  // As after any call: a new file in the directory would make the journal stale.
  writeFileSync(lockFile, "", { mode: 0o600 });
  if (state === undefined || boot === undefined) throw new Error("There is no state directory.");
  const lines = readdirSync(store.directory).map((name, at) => {
    const owner = readOwner(files, name);
    if (owner.kind !== "attachment") return "";
    // No namespace has so low a number, or so high an id.
    const namespace = {
      inode: `${2 ** 31 + at}`,
      id: hasHandles ? `${2 ** 40 + at}` : undefined,
      path: `${namespaces}/${at}`,
      isPodSandbox: true,
    };
    const file = fingerprintOf(system.linkStatus(files.pathOf(name)));
    return `${keyOf(owner)} ${name}${formatRecorded(file, namespace)}\n`;
  });
  const text = lines.join("");
  const length = 256 + text.length;
  state.replace("journal", " ".repeat(256));
  const directoryNow = fingerprintOf(system.status(store.directory));
  const seal = { boot, machine: undefined, directory: directoryNow };
  sealJournal(state, text, { ...seal, length, renewed: length });
  return JSON.stringify({ ...network, ipam });
}
