/**
 * The network of an attempt: its calls, which are cut off if they hang, the files on its disk, and the rules that must hold.
 */

import { lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { ownDirectory, scratchDirectory } from "../../harness/data-directory.ts";
import type { Call } from "../../harness/executable.ts";
import { isUndecided, MOST_ATTEMPTS } from "../../harness/executable-network.ts";
import { grantedAddresses } from "../../harness/network.ts";
import {
  attachmentCall,
  configuration,
  type JsonObject,
  networkCall,
} from "../../harness/runtime-call.ts";
import { withoutPrivileges } from "../../harness/unprivileged.ts";
import type { Kind, Verifier } from "../../harness/violations.ts";
import { requireDistinct, requireFailure, requireSuccess } from "./answers.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { type Ending, RunningCall } from "./running-call.ts";
import type { Trial } from "./scenario.ts";
import { bystander, knowsStatus, LOCK_TIMEOUT, type Subject } from "./subject.ts";

export type Verb = "ADD" | "DEL" | "CHECK" | "GC" | "STATUS";

/** A range set of each family, with room for three attachments. */
const dualStack = [
  [{ subnet: "198.51.100.0/24", rangeStart: "198.51.100.2", rangeEnd: "198.51.100.4" }],
  [{ subnet: "2001:db8::/64", rangeStart: "2001:db8::2", rangeEnd: "2001:db8::4" }],
];

/** A range with room for thirteen. */
export const oneRange = { ranges: [[{ subnet: "198.51.100.0/28" }]] };

/** How many attachments that is. */
export const ROOM = 13;

/** The differences from a dual-stack network for three. */
export interface Differences {
  readonly ipam?: JsonObject;
  /** The data directory; by default an empty one, which is removed after the scenario. */
  readonly directory?: string;
  /** The program that runs the executables, with its options. */
  readonly under?: readonly string[];
  /** Whether the caller is a user to whom permissions apply. */
  readonly isUnprivileged?: boolean;
}

/** The differences from call to call. */
export interface CallDifferences {
  readonly ipam?: JsonObject;
  /** The executable to call; by default the network's own. */
  readonly subject?: Subject;
  /** The containers that GC lists; none by default. */
  readonly alive?: readonly string[];
  /** How many seconds pass until it is cut off. */
  readonly limit?: number;
}

/** A short timeout for the lock, with a time limit far above it, even on a busy machine. */
export const HASTY = { ipam: { lockTimeoutSeconds: 0.3 }, limit: 25 } satisfies CallDifferences;

/** How many seconds a call may take on a busy machine; whatever holds the Go plugin up does so for ever. */
const LIMITS: Readonly<Record<Subject["name"], number>> = { native: 60, portable: 60, Go: 10 };

export const FULL = "no IP addresses available";

/** The longest reservation of the calls here, in bytes. */
const LONGEST_CONTENT = 100;

/** The network `net` of a subject. */
export class FaultNetwork {
  readonly subject: Subject;
  /** The data directory. */
  readonly directory: string;
  readonly #trial: Trial;
  readonly #differences: Differences;
  readonly #verifier: Verifier;
  readonly #teardown: Trial["teardown"];
  readonly #ipam: JsonObject;
  readonly #under: readonly string[];
  readonly #as: Pick<Call, "user">;
  /** The end of a call that hung. */
  #hanging: Ending | undefined;
  /** The standard error of the last call: why GC keeps something, for example. */
  #said = "";

  constructor(trial: Trial, differences: Differences = {}) {
    const { subject, teardown, verifier } = trial;
    const { ipam = {}, directory, under = [], isUnprivileged = false } = differences;
    this.#trial = trial;
    this.#differences = differences;
    const { program, ...as } = isUnprivileged
      ? withoutPrivileges({ teardown }, subject.path)
      : { program: subject.path };
    this.subject = { ...subject, path: program };
    this.#as = as;
    this.#verifier = verifier;
    this.#teardown = teardown;
    this.#ipam = {
      ranges: dualStack,
      exhaustedStatus: "unavailable",
      lockTimeoutSeconds: LOCK_TIMEOUT,
      ...ipam,
    };
    this.#under = under;
    this.directory = directory ?? scratchDirectory({ teardown });
    if (directory === undefined) mkdirSync(this.path(""));
  }

  /** A path in the network's directory. */
  path(name: string): string {
    return join(this.directory, "net", name);
  }

  /** A path in the directory that the Go plugin does not know. */
  ownPath(name: string): string {
    return join(this.directory, ownDirectory, "net", name);
  }

  /** The call of a runtime. */
  call(
    verb: Verb,
    containerId: string,
    { ipam = {}, subject = this.subject, alive = [] }: CallDifferences = {},
  ): Call {
    const valid = alive.map((containerID) => ({ containerID, ifname: "eth0" }));
    const document = configuration(
      this.directory,
      { ...this.#ipam, ...ipam },
      {
        cniVersion: subject.cniVersion,
        ...(verb === "GC" ? { "cni.dev/valid-attachments": valid } : {}),
      },
    );
    const call =
      verb === "GC" || verb === "STATUS"
        ? networkCall(verb, document)
        : attachmentCall(verb, { containerId }, document);
    return { ...call, ...this.#as };
  }

  /** Starts a call. */
  begin(verb: Verb, containerId: string, differences: CallDifferences = {}): RunningCall {
    const { subject = this.subject, limit = LIMITS[subject.name] } = differences;
    const launch = { teardown: this.#teardown, limit: limit * 1000, under: this.#under };
    return new RunningCall(subject.path, this.call(verb, containerId, differences), launch);
  }

  /** Makes a call, and waits for its end. After a call has hung, no other one is made: it would hang as long. */
  async do(verb: Verb, containerId = "", differences: CallDifferences = {}): Promise<Ending> {
    if (this.#hanging !== undefined) return this.#hanging;
    const make = () => this.begin(verb, containerId, differences).ended;
    let ending = await make();
    for (let left = MOST_ATTEMPTS; isUndecided(ending) && left > 0; left--) ending = await make();
    if (ending.isCutOff) this.#hanging = ending;
    this.#said = ending.stderr && `; ${verb} said: ${ending.stderr}`;
    if (verb === "ADD" && ending.exitCode === 0) this.#age(grantedAddresses(ending));
    return ending;
  }

  /** Makes the files of an ADD an hour older, since GC keeps what is young. Another call may have removed one meanwhile. */
  #age(names: readonly string[]): void {
    const hourAgo = Date.now() / 1000 - 3600;
    for (const name of names) {
      try {
        utimesSync(this.path(name), hourAgo, hourAgo);
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
  }

  /**
   * Makes a call that must succeed.
   *
   * @param kind the violation if it does not
   * @returns the addresses of an ADD
   */
  async mustWork(verb: Verb, containerId = "", kind: Kind = "refused"): Promise<string[]> {
    const ending = await this.do(verb, containerId);
    requireSuccess(this.#verifier, ending, `${verb} ${containerId}`, kind);
    return verb === "ADD" ? grantedAddresses(ending) : [];
  }

  /** Makes a call that must fail with one error object that contains each of `words`. */
  async mustFail(verb: Verb, containerId: string, ...words: readonly string[]): Promise<void> {
    const ending = await this.do(verb, containerId);
    requireFailure(this.#verifier, ending, `${verb} ${containerId}`, ...words);
  }

  /** Makes an ADD that works, or fails with one error object that contains each of `words` and keeps nothing. */
  async mayAdd(containerId: string, ...words: readonly string[]): Promise<string[]> {
    const ending = await this.do("ADD", containerId);
    if (ending.exitCode === 0) return grantedAddresses(ending);
    requireFailure(this.#verifier, ending, `ADD ${containerId}`, ...words);
    this.mustHoldNothing("kept", containerId);
    return [];
  }

  /** Makes DELs, which must work and leave nothing. */
  async mustRelease(...containerIds: readonly string[]): Promise<void> {
    for (const containerId of containerIds) {
      await this.mustWork("DEL", containerId);
      this.mustHoldNothing("leak", containerId);
    }
  }

  /** Makes a GC, which must work; its list has only these containers. */
  async mustCollect(...alive: readonly string[]): Promise<Ending> {
    const ending = await this.do("GC", "", { alive });
    requireSuccess(this.#verifier, ending, "GC");
    return ending;
  }

  /** Makes a STATUS, which must say whether there is room. The Go plugin's does not count, and an older Go plugin has none. */
  async mustTell(found: "room" | "none"): Promise<void> {
    if (!knowsStatus(this.subject)) return;
    if (found === "room") await this.mustWork("STATUS");
    else if (this.subject.name !== "Go") await this.mustFail("STATUS", "", "50 ", FULL);
  }

  /**
   * Makes a STATUS, which must say that there is room, or fail with an error that contains each of `words`, as an ADD would.
   */
  async mayTell(...words: readonly string[]): Promise<void> {
    if (!knowsStatus(this.subject)) return;
    const ending = await this.do("STATUS");
    if (ending.exitCode !== 0) requireFailure(this.#verifier, ending, "STATUS", "50 ", ...words);
  }

  /**
   * Hands out every free address, once; then an ADD must fail. STATUS must know the last address, and that there is none.
   *
   * @param prefix the beginning of the container ids
   * @param room how many attachments there must be room for
   * @returns the container ids with their addresses
   */
  async fill(prefix: string, room: number): Promise<ReadonlyMap<string, readonly string[]>> {
    const filled = new Map<string, readonly string[]>();
    for (let at = 0; at < room; at++) {
      if (at === room - 1) await this.mustTell("room");
      filled.set(`${prefix}-${at}`, await this.mustWork("ADD", `${prefix}-${at}`, "leak"));
    }
    requireDistinct(this.#verifier, [...filled.values()].flat());
    for (const [containerId, addresses] of filled) this.mustHold(containerId, addresses);
    await this.mustTell("none");
    await this.mustFail("ADD", `${prefix}-beyond`, FULL);
    await this.mustTell("none");
    return filled;
  }

  /**
   * Requires after a fault that every file is whole, others are served in time, a DEL frees everything of the victim, and every
   * address can be handed out exactly once.
   *
   * @param further other containers that may be attached
   */
  async mustRecover(...further: readonly string[]): Promise<void> {
    const differences = { ...this.#differences, directory: this.directory };
    const after = new FaultNetwork(bystander(this.#trial), differences);
    after.#hanging = this.#hanging;
    await after.#recovers(further);
  }

  async #recovers(further: readonly string[]): Promise<void> {
    this.mustBeWhole(["other", "victim", ...further]);
    const others = this.heldBy("other");
    this.#verifier.require(others.length === 2, "double", `the other holds ${others.join(" ")}`);
    await this.mustRelease(...further);
    await this.mustWork("ADD", "third", "blocked");
    await this.mustRelease("victim", "third");
    this.mustHold("other", others);
    const late = await this.fill("late", 2);
    await this.mustRelease("other", ...late.keys());
    this.mustBeEmpty();
  }

  /** Requires that every reservation is complete, and belongs to one of these containers. */
  mustBeWhole(containerIds: readonly string[]): void {
    for (const name of this.reserved()) {
      const content = contentOf(this.path(name)) ?? "(no file)";
      const isWhole = containerIds.some((id) => content === `${id}\r\neth0`);
      this.#verifier.require(isWhole, "torn", `${name} says ${JSON.stringify(content)}`);
    }
  }

  /** Requires that a container holds these addresses and no others. */
  mustHold(containerId: string, addresses: readonly string[]): void {
    const held = this.heldBy(containerId).join(" ");
    const expected = [...addresses].sort().join(" ");
    this.#verifier.require(held === expected, "double", `${containerId} holds ${held}`);
  }

  mustHoldNothing(kind: "kept" | "leak", ...containerIds: readonly string[]): void {
    for (const containerId of containerIds) {
      const left = this.heldBy(containerId).join(" ");
      this.#verifier.require(left === "", kind, `${containerId} holds ${left}${this.#said}`);
    }
  }

  /** Requires that no address is reserved. */
  mustBeEmpty(): void {
    const left = this.reserved().join(" ");
    this.#verifier.require(left === "", "leak", `${left} left in the end${this.#said}`);
  }

  /** Requires that a step changes nothing in the data directory. */
  async mustNotChange(what: string, step: () => Promise<unknown>): Promise<void> {
    const before = stateOf(this.directory);
    await step();
    const changes = changesBetween(before, stateOf(this.directory));
    this.#verifier.require(changes === "", "torn", `${what}: ${changes}`);
  }

  /** All names that have the form of an address. */
  reserved(): readonly string[] {
    if (lstatSync(this.path(""), { throwIfNoEntry: false }) === undefined) return [];
    return readdirSync(this.path("")).filter((name) => /^[0-9a-f]*[.:]/.test(name));
  }

  /** The addresses whose files name a container, in text order. */
  heldBy(containerId: string): readonly string[] {
    return this.reserved()
      .filter((name) => contentOf(this.path(name))?.split("\r\n")[0] === containerId)
      .sort();
  }
}

/** The content of a file; `undefined` for anything else, also if it was just removed or may not be read. */
function contentOf(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile() || found.size > LONGEST_CONTENT) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isGone(error) || codeOf(error) === "EACCES") return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return codeOf(error) === "ENOENT";
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
