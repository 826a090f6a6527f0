/** Symbolic links in the data directory, at every name that a call makes, which lead out of it. */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ownDirectory, scratchDirectory } from "../../harness/data-directory.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { DualStack, mustWork, verifyError, verifyRecovery } from "./dual-stack.ts";
import { shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";

/** What a link leads to; what is there stays as it is. */
type Goal = "nothing" | "a file" | "a directory" | "what stood there";

interface Planting {
  /** The link's path in the data directory. */
  readonly path: string;
  readonly goal: Goal;
  /** Whether the network was used before. */
  readonly isInUse: boolean;
}

const own = (path: string): string => join(ownDirectory, path);

const names: readonly string[] = [
  "net/10.0.0.3",
  "net/2001:db8::3",
  "net/last_reserved_ip.0",
  "net/last_reserved_ip.1",
  "net/lock",
  ownDirectory,
  own("net"),
  own("net/journal"),
  own("net/owners"),
  own("net/owners/victim:eth0"),
  own("net/stamp"),
  own("net/new"),
  own("net/lock"),
  own("net/lock.holder"),
];

const goals: readonly Goal[] = ["nothing", "a file", "a directory", "what stood there"];

/** Old enough to be a killed call's, by its date and by its name. */
const OLD_LEFTOVER = "1.0";

/** Two directories, the one for the plugin, the other for the goals of the links. */
class Planted {
  readonly dataDir: string;
  readonly #outside: string;
  #before: readonly string[] = [];

  constructor(scratch: string) {
    this.dataDir = join(scratch, "data");
    this.#outside = join(scratch, "outside");
    mkdirSync(this.dataDir);
    mkdirSync(join(this.#outside, "directory"), { recursive: true });
    writeFileSync(join(this.#outside, "file"), "precious");
    const leftover = join(this.#outside, "directory", OLD_LEFTOVER);
    writeFileSync(leftover, "precious");
    utimesSync(leftover, 1, 1);
  }

  plant({ path, goal }: Planting): void {
    const link = join(this.dataDir, path);
    const target = join(
      this.#outside,
      goal === "a directory" ? "directory" : goal.replace("a ", ""),
    );
    mkdirSync(dirname(link), { recursive: true });
    if (goal === "what stood there" && existsSync(link)) renameSync(link, target);
    rmSync(link, { recursive: true, force: true });
    symlinkSync(target, link);
    this.#before = this.#describe();
  }

  /** How the goals were changed; empty where they were not. */
  get harm(): string {
    const now = this.#describe();
    const changed = now.filter((line) => !this.#before.includes(line));
    const gone = this.#before.filter((line) => !now.includes(line));
    return [...changed, ...gone.map((line) => `not ${line}`)].join("; ");
  }

  /** Names, kinds, modes, contents and times of all that stands outside. */
  #describe(): string[] {
    const paths = readdirSync(this.#outside, { recursive: true, encoding: "utf8" }).sort();
    return [".", ...paths].map((path) => describe(join(this.#outside, path), path));
  }
}

function describe(path: string, name: string): string {
  const status = lstatSync(path, { bigint: true });
  const facts = `${name} ${status.mode.toString(8)} ${status.mtimeNs}`;
  if (status.isSymbolicLink()) return `${facts} -> ${readlinkSync(path)}`;
  return status.isFile() ? `${facts} ${readFileSync(path, "utf8")}` : facts;
}

/** Calls of all kinds beside one link; only the lock is allowed to keep an ADD from working. */
async function live({ subject, teardown }: Context, planting: Planting): Promise<Attempt> {
  const verifier = new Verifier();
  const planted = new Planted(scratchDirectory({ teardown }));
  const network = new DualStack(subject, planted.dataDir);
  if (planting.isInUse) await mustWork(network, "ADD", "other", verifier);
  planted.plant(planting);

  const outcome = await network.do("ADD", "victim");
  if (outcome.exitCode === 0) {
    verifier.require(network.heldBy("victim").length === 2, "torn", "not both families");
  } else {
    const detail = `ADD: ${outcome.stdout}`;
    verifier.require(planting.path === "net/lock", "refused", detail);
    verifyError(outcome, network.directory, "", verifier);
    verifier.require(network.heldBy("victim").length === 0, "kept", "the ADD failed");
  }
  await mustWork(network, "DEL", "victim", verifier);
  // As after a foreign write: the journal is written anew.
  if (existsSync(join(planted.dataDir, "net"))) utimesSync(join(planted.dataDir, "net"), 1, 1);
  await network.ask("GC", {
    "cni.dev/valid-attachments": [{ containerID: "other", ifname: "eth0" }],
  });
  verifier.require(planted.harm === "", "escaped", planted.harm);

  rmSync(join(planted.dataDir, planting.path), { recursive: true, force: true });
  if (!planting.isInUse) await mustWork(network, "ADD", "other", verifier);
  await verifyRecovery(network, verifier);
  const { path, goal, isInUse } = planting;
  const what = `${path} a link to ${goal}, ${isInUse ? "network in use" : "new network"}`;
  return { what, violations: verifier.violations };
}

/** In all but an exhaustive run each name has two goals, in turn. */
function plantings(extent: Context["extent"]): readonly Planting[] {
  const inUse = names.flatMap((path) => goals.map((goal) => ({ path, goal, isInUse: true })));
  if (extent !== "exhaustive") return inUse.filter((_, at) => at % 2 === Math.floor(at / 4) % 2);
  const fresh = goals.filter((goal) => goal !== "what stood there");
  const unused = names.flatMap((path) => fresh.map((goal) => ({ path, goal, isInUse: false })));
  return [...inUse, ...unused];
}

export const plantedLinksScenarios: readonly Scenario[] = [
  {
    fault: "symbolic links out of the data directory, at any name that is made there",
    promise:
      "nothing outside is made, changed or removed; ADD and DEL work (ADD may refuse a lock that is a link)",
    attempt: (context) =>
      sideBySide(shortSampleOf(context, plantings(context.extent)), 4, (planting) =>
        live(context, planting),
      ),
  },
];
