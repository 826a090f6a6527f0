/** Files that are no reservations where reservations would be. */

import { handOver } from "../../harness/unprivileged.ts";
import { type CorruptFile, corruptFiles, outsideOf } from "./corrupt-file.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { FaultNetwork, FULL } from "./network.ts";
import { eachOf, type Scenario, sampleOf, type Trial } from "./scenario.ts";

/** Where they are: the second of three addresses in each range set. */
const CORRUPT = ["10.0.0.3", "2001:db8::3"];

/** A network in which `other` holds the first addresses, the second are corrupt, and the third are free. */
class CorruptNetwork extends FaultNetwork {
  readonly #trial: Trial;
  #before: readonly string[] = [];

  /** One that cannot be read is seen by a user to whom permissions apply. */
  constructor(trial: Trial, { isClosed }: CorruptFile) {
    super(trial, { isUnprivileged: isClosed ?? false });
    this.#trial = trial;
    if (isClosed) for (const path of [this.directory, this.path("")]) handOver(path);
  }

  async corrupt({ put }: CorruptFile): Promise<void> {
    await this.do("ADD", "other");
    for (const name of CORRUPT) put(this.path(name));
    this.#before = this.#state();
  }

  /** They are as they were. */
  mustBeUntouched(when: string): void {
    const changes = changesBetween(this.#before, this.#state());
    this.#trial.verifier.require(changes === "", "torn", `${when}: ${changes}`);
  }

  /** They are gone, and what links led to is not. */
  mustBeGone(): void {
    const left = CORRUPT.flatMap((name) => stateOf(this.path(name))).join("; ");
    this.#trial.verifier.require(left === "", "leak", `${left} is left`);
    const outside = stateOf(outsideOf(this.path("any")));
    const lost = outside.filter((line) => !this.#before.includes(line)).join("; ");
    this.#trial.verifier.require(lost === "", "torn", `outside: ${lost}`);
  }

  /** With what links lead to. */
  #state(): readonly string[] {
    const paths = [...CORRUPT.map((name) => this.path(name)), outsideOf(this.path("any"))];
    return paths.flatMap(stateOf);
  }
}

async function liveBeside(trial: Trial, file: CorruptFile): Promise<void> {
  const network = new CorruptNetwork(trial, file);
  await network.corrupt(file);

  await network.mustWork("CHECK", "other");
  await network.mustFail("CHECK", "nobody", "nobody");
  await network.mustWork("ADD", "victim");
  network.mustHold("victim", ["10.0.0.4", "2001:db8::4"]);
  await network.mustWork("CHECK", "victim");
  network.mustBeUntouched("while there are other addresses");

  if (file.becomes === "free") await network.mustWork("ADD", "third", "leak");
  else await network.mustFail("ADD", "third", FULL);
  await network.mustRelease("third", "victim", "other");
  if (file.becomes !== "free") network.mustBeUntouched("in the end");
}

async function askAndCollect(trial: Trial, file: CorruptFile): Promise<void> {
  const network = new CorruptNetwork(trial, file);
  await network.corrupt(file);
  await network.do("ADD", "victim");

  // STATUS counts what an ADD would take.
  if (file.becomes === "free") await network.mustWork("STATUS");
  else await network.mustFail("STATUS", "", "50 ", FULL);
  network.mustBeUntouched("STATUS");
  await network.do("DEL", "victim");
  await network.mustWork("STATUS");

  const { stderr } = await network.mustCollect();
  // A user to whom permissions apply may not look at the processes of others, and releases nothing.
  if (!file.isClosed) network.mustHoldNothing("leak", "other");
  const isNamed = CORRUPT.every((name) => stderr.includes(network.path(name)));
  trial.verifier.require(isNamed || !file.isClosed, "mute", `GC said: ${stderr}`);
  if (file.becomes === "stale") network.mustBeGone();
  else network.mustBeUntouched("GC");
}

export const corruptReservationScenarios: readonly Scenario[] = [
  {
    fault:
      "anything but a reservation where one would be: a file that is empty, cut off, garbage, huge, unreadable; a directory, link, FIFO or socket",
    promise:
      "ADD, CHECK and DEL work beside it; only a blank file that is ten seconds old is replaced, when no other address is left; everything else stays",
    attempt: eachOf(corruptFiles, liveBeside),
  },
  {
    fault: "the same, before GC and STATUS",
    promise:
      "STATUS agrees with ADD; GC frees all reservations of dead containers, leaves files that name none, and names those that it cannot read",
    attempt: eachOf(corruptFiles, askAndCollect, { some: sampleOf }),
  },
];
