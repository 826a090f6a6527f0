/** The rules of the store, which `docs/architecture.md` states in words: they must hold whatever has happened. */

import {
  type CallRecord,
  formatCall,
  parseCalls,
} from "../../src/store/failed-calls/failed-call.ts";
import type { HistoryRecord } from "../../src/store/history/history-record.ts";
import { DATA_DIRECTORY } from "../harness/memory-machine.ts";
import { grantedAddresses } from "../harness/network.ts";
import { type Calls, INGRESS, namespacePath } from "./calls.ts";
import { brokenHistory, recordsIn } from "./history.ts";
import { type End, type Program, runAlone } from "./process.ts";
import type { Outcome, State } from "./search.ts";
import { clockIn, copyOf, type Machine, type World } from "./world.ts";

const DIRECTORY = `${DATA_DIRECTORY}/net`;

const FAILED_CALLS = "/run/host-local/failed-calls";

/** Files by address, with their owners as `container interface`. */
type Reservations = ReadonlyMap<string, string>;

/** The facts by which the end of a schedule is judged. */
export interface Question {
  readonly calls: Calls;
  /** The reservations before. */
  readonly before: Reservations;
  /** The addresses that were in use before without a reservation. */
  readonly unreserved: readonly string[];
  /** The containers whose network namespaces were gone before. */
  readonly dead: readonly string[];
  /** The containers that live, or may live, although their network namespaces are not where they were. */
  readonly spared: readonly string[];
  /** The history before, if one call runs alone. */
  readonly history: readonly HistoryRecord[] | undefined;
  /** Every container of the schedule. */
  readonly containers: readonly string[];
  /** Whether the Go plugin may have been stopped with a file that it had not written. */
  readonly mayBeEmpty: boolean;
  /** Whether the lock of a process does not exclude the others: then the number in the seal may be wrong. */
  readonly hasSeveralLocks: boolean;
  /** Whether an ADD that fails can release what it has. */
  readonly keepsNothing: boolean;
  /** Whether the configuration has `"reclaim": "never"`. */
  readonly isNeverReclaimed: boolean;
  /** Whether a repeated ADD gets the same answer; then the reservation is not its own, and it does not release it. */
  readonly repeats: boolean;
  /** Whether the network was left in good order before a boot: then all its addresses can be handed out. */
  readonly reclaims: boolean;
  /** Whether the data directory is lost while calls run: then only what lives can be asked about. */
  readonly isLost: boolean;
}

/** The reservations of the network `net`. */
export function reservationsIn({ disk }: Machine): Reservations {
  const files = disk.has(DIRECTORY) ? Object.entries(disk.filesUnder(DIRECTORY)) : [];
  return new Map(files.filter(([name]) => /^[0-9a-f]+[.:][0-9a-f.:]+$/.test(name)));
}

/** Judges the ends of a search, each only once. */
export class Judge {
  readonly #question: Question;
  readonly #known = new Map<string, readonly string[]>();
  readonly #later = new Map<number, readonly string[]>();

  constructor(question: Question) {
    this.#question = question;
  }

  /** Every rule that is broken, in words. */
  readonly judge = ({ world, places, hasBooted, isCalm }: State): readonly string[] => {
    const outcomes = places.map((place) => place.outcomes);
    const key = `${world.id} ${hasBooted} ${isCalm} ${outcomes.map((some) => some.map(textOf).join()).join("|")}`;
    const found = this.#known.get(key) ?? [
      ...inTwoNamespaces(world, inNoOrder(places)),
      ...falselyKept(world, outcomes.flat()),
      ...(this.#question.isLost ? [] : this.#rulesOf(world, places, hasBooted, isCalm)),
    ];
    this.#known.set(key, found);
    return found;
  };

  /** Every rule about the data directory that is broken. */
  #rulesOf(
    world: World,
    places: State["places"],
    hasBooted: boolean,
    isCalm: boolean,
  ): readonly string[] {
    const outcomes = places.map((place) => place.outcomes);
    const { history } = this.#question;
    return [
      ...this.#answers(world, places, hasBooted),
      ...(isCalm ? this.#undisturbed(world, outcomes.flat()) : []),
      ...(isCalm || this.#question.keepsNothing ? this.#kept(world, outcomes.flat()) : []),
      ...(hasBooted && this.#question.reclaims ? this.#reclaimed(world, outcomes.flat()) : []),
      ...this.#afterwards(world),
      ...(history === undefined || hasBooted
        ? []
        : brokenHistory(history, recordsIn(world), reservationsIn(world))),
    ];
  }

  /**
   * The rules after a loss of power that are broken: whatever is left, DEL frees it, and every address can be handed out again,
   * once.
   */
  afterPowerLoss(world: World): readonly string[] {
    const { calls } = this.#question;
    const [, run] = laterMachine(world);
    const given = fill(calls, run);
    const isTwice = new Set(given).size < given.length;
    return [...this.#afterwards(world), ...(isTwice ? [`${given} are handed out`] : [])];
  }

  /** Rules about the answers. */
  #answers(world: World, places: State["places"], hasBooted: boolean): readonly string[] {
    const broken: string[] = [];
    const now = reservationsIn(world);
    const { before, mayBeEmpty, containers } = this.#question;
    const all = places.flatMap(({ outcomes, isBeforeBoot }, thread) =>
      outcomes.map((outcome, at) => ({ ...outcome, isBeforeBoot, thread, at })),
    );
    for (const [address, owner] of now) {
      const isWhole =
        before.get(address) === owner || containers.some((id) => owner === `${id}\r\neth0`);
      if (!isWhole && !(owner === "" && mayBeEmpty))
        broken.push(`${address} is torn: ${JSON.stringify(owner)}`);
    }
    for (const id of containers) {
      const held = [...now]
        .filter(([, owner]) => owner === `${id}\r\neth0`)
        .map(([address]) => address);
      const own = all.filter(({ program }) => program.container === id && program.verb === "ADD");
      const releases = all.filter(({ program }) => mayRelease(program, id));
      const living = hasBooted ? [] : [...before].filter(([, owner]) => owner === `${id}\r\neth0`);
      if (!all.some(({ program }) => this.#mayTake(program, id, world))) {
        for (const [address] of living) {
          if (!held.includes(address))
            broken.push(`${id} has lost ${address}, and nobody may have released it`);
        }
      }
      for (const { end, isBeforeBoot, thread, at } of own) {
        // A GC does not release a reservation of just now, whatever its list says.
        const isLast = releases.every(
          (release) =>
            release.program.verb === "GC" || (release.thread === thread && release.at < at),
        );
        if (end?.exitCode !== 0 || !isLast || isBeforeBoot === true) continue;
        for (const address of grantedAddresses({ ...end })) {
          const owner = now.get(address);
          if (owner !== `${id}\r\neth0`) {
            broken.push(
              `${id} was told ${address}, which is ${owner === undefined ? "free" : owner.replace("\r\n", " ")}`,
            );
          }
        }
      }
      for (const { program, end, thread, at } of releases) {
        const isAfterAll = own.every((outcome) => outcome.thread === thread && outcome.at < at);
        const isKept = program.keeps?.length === 0 || !this.#question.dead.includes(id);
        if (program.verb === "GC" && isKept) continue;
        const isExcused = /it may be a reservation of|GC kept/.test(end?.stderr ?? "");
        if (end?.exitCode !== 0 || !isAfterAll || isExcused) continue;
        if (held.length > 0) broken.push(`${program.name} has left ${held} of ${id}`);
      }
    }
    const cursor = cursorIn(world);
    const some = [...this.#question.calls.addresses, ...before.keys()];
    if (cursor !== undefined && !mayBeEmpty && !some.includes(cursor)) {
      broken.push(`the cursor is ${JSON.stringify(cursor)}`);
    }
    if (world.locks.size > 0) broken.push("a lock is held by nobody that runs");
    return broken;
  }

  /**
   * Whether a process may take the former address of a container. If the container has a network namespace, only its own calls
   * may. If it has none and is no pod's, only a GC with a list and an operator who names it may.
   */
  #mayTake({ verb, container, keeps }: Program, id: string, { kernel }: World): boolean {
    const { dead, spared, isNeverReclaimed } = this.#question;
    const isOwn = container === id;
    if (verb === "DEL") return isOwn;
    const lives = ["", "-new"].some((end) => kernel.has(namespacePath(id, end)));
    if (spared.includes(id) || (lives && !dead.includes(id))) return false;
    if (verb === "release") return isOwn;
    // The command releases the addresses of dead pods even if no ADD would.
    const isPod = id !== INGRESS && (verb === "gc" || !isNeverReclaimed);
    if (verb === "GC" || verb === "gc")
      return keeps?.includes(id) !== true && (isPod || keeps?.length !== 0);
    return verb === "ADD" && (isOwn || isPod);
  }

  /** Rules about calls that had no other trouble than each other. */
  #undisturbed(world: World, outcomes: readonly Outcome[]): readonly string[] {
    const broken: string[] = [];
    const { before, unreserved, dead, calls, hasSeveralLocks, repeats, isNeverReclaimed } =
      this.#question;
    const isFree = (id: string): boolean =>
      dead.includes(id) && id !== INGRESS && !isNeverReclaimed;
    const taken = [...before.values()].filter((owner) => !isFree(owner.replace(/\r.*$/s, "")));
    // STATUS answers for one more ADD.
    const claims = outcomes.filter(({ program: { verb } }) => verb === "ADD" || verb === "STATUS");
    const inUse = taken.length + unreserved.length;
    const hasRoom = inUse + claims.length <= calls.addresses.length;
    for (const { program, end } of outcomes) {
      const { name, verb, isUnheard } = program;
      // A command ends with 1 if something is left.
      const hasFailed = end?.exitCode !== 0 && !(program.words && end?.exitCode === 1);
      const isRefused = /has been allocated|is not available/.test(end?.stdout ?? "");
      const mayFail =
        verb === "CHECK" || (claims.some((claim) => claim.program === program) && !hasRoom);
      if (hasFailed && !mayFail && !isRefused && isUnheard !== true)
        broken.push(`${name} fails: ${end?.stdout}`);
    }
    const now = [...reservationsIn(world).values()];
    const isTold = (id: string): boolean =>
      outcomes.some(({ program, end }) => program.container === id && end?.exitCode === 0);
    const lost = dead.filter((id) => isFree(id) && now.includes(`${id}\r\neth0`) && !isTold(id));
    for (const { program, end } of outcomes) {
      const { name, verb, keeps = [] } = program;
      const answer = end?.stdout ?? "";
      const isFull = /no IP addresses available|is not available/.test(answer);
      // A namespace for which an ADD is under way may have the number of the dead one.
      const isUnsure = outcomes.some((outcome) => outcome.program.verb === "ADD");
      const mayStay = (id: string): boolean => {
        if (verb === "GC" || verb === "gc") return keeps.includes(id) || isUnsure;
        if (verb === "release") return id !== program.container || isUnsure;
        const isOwn = id === program.container && answer.includes("duplicate allocation");
        return !isFull && !isOwn;
      };
      const left = lost.filter((id) => !mayStay(id));
      if (left.length > 0) broken.push(`${name} leaves what ${left} has, which is gone`);
    }
    const isTwice = (owner: string): boolean =>
      now.filter((holder) => holder === owner).length > calls.pools.length;
    if (!hasSeveralLocks && now.some(isTwice))
      broken.push(`an attachment has two addresses: ${now}`);
    const told = toldIn(outcomes);
    const cursor = cursorIn(world);
    const isMoved = hasSeveralLocks || repeats || outcomes.some(({ program }) => program.isUnheard);
    if (told.length > 0 && !isMoved && !told.includes(cursor ?? ""))
      broken.push(`the cursor is ${cursor}, and ${told} was told`);
    return broken;
  }

  /** After a boot all addresses can be handed out without any DEL, except those of living containers. */
  #reclaimed(world: World, outcomes: readonly Outcome[]): readonly string[] {
    const { calls } = this.#question;
    const living = toldIn(outcomes);
    const [, run] = laterMachine(world);
    const given = fill(calls, run);
    const all = [...new Set([...living, ...given])].sort();
    // A reservation that a killed call made after the boot belongs to nobody, but it is not from before the boot.
    const killed = outcomes.filter(({ end }) => end === undefined).length;
    const isWhole =
      all.length >= calls.addresses.length - killed && all.length === living.length + given.length;
    return isWhole ? [] : [`after the boot ${given} can be handed out beside ${living}`];
  }

  /** An ADD that fails, and is not killed, keeps nothing. */
  #kept(world: World, outcomes: readonly Outcome[]): readonly string[] {
    const { before, containers, repeats } = this.#question;
    const now = [...reservationsIn(world).values()];
    return containers.flatMap((id) => {
      const owner = `${id}\r\neth0`;
      const own = outcomes.filter(
        ({ program }) => program.verb === "ADD" && program.container === id,
      );
      const isKept =
        !repeats &&
        own.length > 0 &&
        own.every(({ end }) => end?.exitCode === 1) &&
        now.includes(owner);
      return isKept && ![...before.values()].includes(owner)
        ? [`${id} keeps what it was never told`]
        : [];
    });
  }

  /** Rules about the calls that follow. */
  #afterwards(world: World): readonly string[] {
    const known = this.#later.get(world.id);
    if (known !== undefined) return known;
    const { calls, containers, hasSeveralLocks } = this.#question;
    const broken: string[] = [];
    const filler = calls.program("ADD filler");
    for (const id of containers) {
      const [machine, run] = laterMachine(world);
      const holds = [...reservationsIn(machine).values()].some(
        (owner) => owner === `${id}\r\neth0` || owner === id,
      );
      const isFound = run(calls.program(`CHECK ${id}`)).exitCode === 0;
      if (isFound !== holds) broken.push(`a CHECK of ${id} says ${isFound}, and it holds ${holds}`);
      const isFull = calls.isFull(reservationsIn(machine), machine.kernel.seenInUse);
      const saysFull = run(calls.program("STATUS")).exitCode !== 0;
      const mayReclaim = containers.some((container) => this.#mayTake(filler, container, world));
      const isKnown = saysFull || !isFull || !mayReclaim;
      if (saysFull !== isFull && isKnown && !hasSeveralLocks && world.boot === 1)
        broken.push(`STATUS says ${isFull ? "that" : "not that"} an address is free`);
      const { exitCode, stdout } = run(calls.program(`DEL ${id}`));
      if (exitCode !== 0) broken.push(`a DEL of ${id} fails: ${stdout}`);
      const left = [...reservationsIn(machine)].filter(([, owner]) => owner === `${id}\r\neth0`);
      if (left.length > 0) broken.push(`a DEL of ${id} leaves ${left.map(([address]) => address)}`);
    }
    const [machine, run] = laterMachine(world);
    for (const id of containers) run(calls.program(`DEL ${id}`));
    const given = fill(calls, run);
    // A DEL does not reach into a namespace that has moved: its addresses stay in use.
    const { seenInUse } = machine.kernel;
    const free = calls.addresses.filter((address) => !seenInUse.includes(address));
    if (`${given.toSorted()}` !== `${free.sort()}`) {
      broken.push(`after the DELs of all, ${given} can be handed out of ${calls.addresses}`);
    }
    const left = Object.keys(machine.disk.filesUnder(`${DATA_DIRECTORY}/.host-local/net/new`));
    if (left.length > 0) broken.push(`${left} are never removed`);
    this.#later.set(world.id, broken);
    return broken;
  }
}

/** The containers that a runtime adds and deletes at the same time: their addresses may be configured after the release. */
function inNoOrder(places: State["places"]): readonly string[] {
  return places.flatMap(({ outcomes }) => {
    const others = places
      .filter((place) => place.outcomes !== outcomes)
      .flatMap((place) => place.outcomes);
    return outcomes.flatMap(({ program: { verb, container } }) => {
      const isDeleted = others.some(
        ({ program }) => program.verb === "DEL" && program.container === container,
      );
      return verb === "ADD" && isDeleted && container !== undefined ? container : [];
    });
  });
}

/** The addresses that two containers have. A container that is started again may also have its former network namespace. */
function inTwoNamespaces({ kernel }: World, inNoOrder: readonly string[]): readonly string[] {
  const spared = inNoOrder.map((id) => namespacePath(id, ""));
  return [...kernel.pathsByAddress].flatMap(([address, paths]) => {
    const containers = new Set(paths.map((path) => path.replace(/-new$/, "")));
    for (const path of spared) containers.delete(path);
    return containers.size > 1 ? [`${[...containers].join(" and ")} have ${address}`] : [];
  });
}

/** What is wrong with the record of failures: every line must be whole, and belong to a call that ended so, or was killed. */
function falselyKept({ disk }: World, outcomes: readonly Outcome[]): readonly string[] {
  if (!disk.has(FAILED_CALLS)) return [];
  const text = disk.readFile(FAILED_CALLS, Number.MAX_SAFE_INTEGER);
  const records = parseCalls(text);
  const isTrue = ({ verb, container, kind }: CallRecord): boolean =>
    outcomes.some(({ program: { environment }, end }) => {
      const { CNI_COMMAND, CNI_CONTAINERID } = environment;
      if (CNI_COMMAND !== verb || CNI_CONTAINERID !== container) return false;
      return end === undefined || (end.exitCode === 0) === (kind === "returned");
    });
  const isWhole = text === records.map(formatCall).join("");
  return [
    ...(isWhole ? [] : [`a line is not whole: ${text}`]),
    ...records
      .filter((record) => !isTrue(record))
      .map((record) => `it is not true: ${formatCall(record)}`),
  ];
}

/** The addresses that ADDs returned. */
function toldIn(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.flatMap(({ program, end }) =>
    program.verb === "ADD" && end !== undefined ? grantedAddresses({ ...end }) : [],
  );
}

/** Hands out every free address. */
function fill(calls: Calls, run: (program: Program) => End): readonly string[] {
  const given: string[] = [];
  for (let at = 0; at <= calls.addresses.length; at++) {
    const end = run(calls.program(`ADD filler${at}`));
    if (end.exitCode !== 0) break;
    given.push(...grantedAddresses(end));
  }
  return given;
}

/** The first range set's cursor, as ADD reads it. */
function cursorIn({ disk }: Machine): string | undefined {
  const path = `${DIRECTORY}/last_reserved_ip.0`;
  return disk.has(path) ? disk.readFile(path, 4096).trim() : undefined;
}

/** Whether a process may release what a container holds. */
function mayRelease({ verb, container, keeps }: Program, id: string): boolean {
  if (verb === "DEL") return container === id;
  return verb === "GC" && keeps?.includes(id) !== true;
}

/** A copy of a machine a minute later, and a function that runs a call on it. */
function laterMachine(world: World): [Machine, (program: Program) => End] {
  const time = world.time + 61_000;
  let number = 10_000;
  const machine = { ...copyOf(world, time), locks: new Map() };
  const clock = clockIn({ ...machine, time });
  return [machine, (program) => runAlone(machine, program, number++, clock)];
}

function textOf({ end }: Outcome): string {
  return `${end?.exitCode} ${end?.stdout}${end?.stderr}`;
}
