/** The calls of a stress: some are killed at a random moment, and a ledger is kept of each network. */

import { grantedAddresses } from "../../harness/network.ts";
import type { Random } from "../../harness/random.ts";
import { attachmentCall, type JsonObject, networkCall } from "../../harness/runtime-call.ts";
import type { Verifier } from "../../harness/violations.ts";
import { type Ending, RunningCall } from "./running-call.ts";
import { type StressAnswer, type StressCall, StressLedger } from "./stress-ledger.ts";
import { configurationOf, type StressNetwork } from "./stress-networks.ts";
import type { Subject } from "./subject.ts";

/** No call takes this long, in milliseconds: the lock's time-out is over before. */
const LONGEST_CALL = 100_000;

/** While fewer have been killed than ought to be, the percentage of calls that are tried: most of them are faster. */
const PERCENT_TRIED = 25;

/** What a call is for. */
export type Purpose = Omit<StressCall, "program">;

/** One data directory, with networks that several executables serve. */
export class StressCalls {
  readonly directory: string;
  readonly networks: readonly StressNetwork[];
  readonly random: Random;
  readonly #ledgers: ReadonlyMap<StressNetwork, StressLedger>;
  /** How many calls in a hundred are killed. */
  percentKilled: number;
  /** What runs the executables, with its options; it must become the executable, by exec. */
  under: readonly string[] = [];
  count = 0;
  killed = 0;
  readonly #running = new Set<() => void>();
  /** How long the calls of each program take at the moment, in milliseconds: on a busy machine much longer. */
  readonly #usual = new Map<string, number>();

  constructor(
    directory: string,
    networks: readonly StressNetwork[],
    random: Random,
    verifier: Verifier,
    percentKilled: number,
  ) {
    this.directory = directory;
    this.networks = networks;
    this.random = random;
    this.#ledgers = new Map(networks.map((one) => [one, new StressLedger(one, verifier)]));
    this.percentKilled = percentKilled;
  }

  ledgerOf(network: StressNetwork): StressLedger {
    const ledger = this.#ledgers.get(network);
    if (ledger === undefined) throw new RangeError(`no network ${network.name}`);
    return ledger;
  }

  /** Kills all calls that run. */
  killAll(): void {
    for (const kill of this.#running) kill();
  }

  /** The machine boots, while no call runs. */
  boot(under: readonly string[]): void {
    this.under = under;
    for (const ledger of this.#ledgers.values()) ledger.boot();
  }

  /** Makes one call to its end. */
  async run(network: StressNetwork, subject: Subject, purpose: Purpose): Promise<StressAnswer> {
    const ledger = this.ledgerOf(network);
    const running = ledger.begin({ ...purpose, program: subject.name });
    const answer = await this.#make(network, subject, purpose);
    ledger.end(running, answer);
    this.count++;
    if (answer.kind === "killed") this.killed++;
    return answer;
  }

  async #make(
    network: StressNetwork,
    { name, path, cniVersion }: Subject,
    { verb, attachment, valid = new Set() }: Purpose,
  ): Promise<StressAnswer> {
    const alive = [...valid].map((containerID) => ({ containerID, ifname: "eth0" }));
    const list: JsonObject = verb === "GC" ? { "cni.dev/valid-attachments": alive } : {};
    const document = configurationOf(network, this.directory, { cniVersion, ...list });
    const call =
      verb === "GC" || verb === "STATUS"
        ? networkCall(verb, document)
        : attachmentCall(verb, { containerId: attachment }, document);
    const running = new RunningCall(path, call, { limit: LONGEST_CALL, under: this.under });
    let isKilled = false;
    const kill = (): void => {
      isKilled = true;
      running.kill();
    };
    this.#running.add(kill);
    const killer = this.#isDoomed() ? setTimeout(kill, this.#moment(name)) : undefined;
    const ending = await running.ended;
    clearTimeout(killer);
    this.#running.delete(kill);
    const kind = isKilled && ending.signal === "SIGKILL" ? "killed" : kindOf(ending);
    if (kind === "done" || kind === "refused") {
      const usual = this.#usual.get(name) ?? ending.took;
      this.#usual.set(name, usual + (ending.took - usual) / 8);
    }
    const addresses = verb === "ADD" && kind !== "refused" ? granted(ending.stdout) : [];
    return { kind, addresses, text: ending.stdout || ending.stderr };
  }

  #isDoomed(): boolean {
    const isDue = this.killed * 100 < this.count * this.percentKilled;
    return isDue && this.random.chance(PERCENT_TRIED);
  }

  /** Some moment within the life of a call, in milliseconds after its start: as often early as late. */
  #moment(program: string): number {
    const usual = this.#usual.get(program) ?? 20;
    return this.random.integer(1 + Math.ceil(usual / 2 ** this.random.integer(7)));
  }
}

function kindOf({ isCutOff, exitCode }: Ending): StressAnswer["kind"] {
  if (isCutOff) return "hung";
  if (exitCode === 0) return "done";
  return exitCode === 1 ? "refused" : "crashed";
}

/** The addresses of a result; none where it was cut off. */
function granted(stdout: string): readonly string[] {
  try {
    return grantedAddresses({ exitCode: 0, stdout, stderr: "" });
  } catch {
    return [];
  }
}
