/** Defects of the protocol, each a change of one place: what the search is worth is whether it finds them. */

import { type Change, programsWith } from "./plugin-with.ts";
import {
  type Cast,
  cast,
  graves,
  handles,
  NO_TROUBLE,
  networks,
  prepare,
  type Trouble,
} from "./scenes.ts";
import type { Violation } from "./search.ts";

/** A defect, and where it shows. */
export interface Bug extends Change {
  readonly name: string;
  readonly cast: Cast;
  /** By default none. */
  readonly trouble?: Trouble;
}

/** The shortest schedule that shows a defect, and what it breaks; `undefined` where the search does not find it. */
export async function shortestWith(bug: Bug): Promise<Violation | undefined> {
  const { search, judge } = prepare(bug.cast, bug.trouble ?? NO_TROUBLE, await programsWith(bug));
  return search.shortest(judge.judge);
}

const kill: Trouble = { faults: ["killed"] };
const error: Trouble = { faults: ["error"], codes: { changes: ["EIO"], reads: ["EIO"] } };
const odd: Trouble = { faults: ["done, but error"] };

const { same, dual, nearlyFull, full, booted, living } = networks;

const lock = "store/lock.ts";
const network = "store/locked-network.ts";
const ledger = "store/ledger.ts";
const journal = "store/journal/journal.ts";
const journalFile = "store/journal/journal-file.ts";
const states = "store/namespaces/namespace-state.ts";
const view = "store/namespaces/view.ts";
const gc = "verbs/gc.ts";
const reservations = "store/reservations/reservation-file.ts";

export const bugs: readonly Bug[] = [
  {
    name: "no lock is taken",
    file: lock,
    from: "const held = lock ?? takeOrExplain();",
    to: "const held = lock ?? takeOrExplain();\n  held.release();",
    cast: cast("ADD a ∥ ADD a"),
  },
  {
    name: "a reservation is created and then written",
    file: reservations,
    from: "system.link(temporary, path), create",
    to: "create(), create",
    cast: cast("ADD a"),
    trouble: kill,
  },
  {
    name: "a reservation is renamed into its place",
    file: reservations,
    from: "system.link(temporary, path), create",
    to: "system.rename(temporary, path), create",
    cast: cast("ADD a ∥ ADD b, directory lock"),
  },
  {
    name: "an UNDO releases by the owner",
    file: network,
    from: "fileIdAt(files.system, files.pathOf(one.name)) === one.file",
    to: "true",
    cast: cast("ADD a, unheard ∥ DEL a, ADD a", nearlyFull),
  },
  {
    name: "a file is known by its time alone",
    file: "store/files/fingerprint.ts",
    from: 'fileIdOf({ inode, modified }: Pick<FileStatus, "inode" | "modified">): FileId {',
    to: 'fileIdOf({ modified }: Pick<FileStatus, "inode" | "modified">): FileId {\n  const inode = 0;',
    cast: cast("ADD a, unheard ∥ DEL a, ADD a", nearlyFull),
  },
  {
    name: "nothing keeps the number of a file that may be undone",
    file: network,
    from: "    this.files.pin(temporary);\n",
    to: "",
    cast: cast("ADD a, unheard ∥ DEL a, ADD a", nearlyFull),
  },
  {
    name: "there is no UNDO",
    file: "verbs/add.ts",
    from: "if (made.length > 0) undoIfPossible",
    to: "if (made.length > 99) undoIfPossible",
    cast: cast("ADD a, unheard"),
  },
  {
    name: "a repeated ADD keeps the file",
    file: "verbs/add.ts",
    from: "if (isRepeated) network.useAgain(held, namespace);",
    to: "if (isRepeated) {}",
    cast: cast("ADD a, unheard ∥ ADD a", same),
  },
  {
    name: "a seal is believed whatever the directory says",
    file: journalFile,
    from: "isUnchanged(fingerprintOf(system.status(directory)), seal.directory)",
    to: "system.status(directory) !== undefined",
    cast: cast("DEL c, ADD c", {
      name: "after a Go DEL and ADD",
      before: "ADD c, DEL c, Go ADD c",
    }),
  },
  {
    name: "a seal is put beside a writer without the lock",
    file: journal,
    from: "lock?.excludesGoPlugin && files.state",
    to: "lock && files.state",
    cast: cast("DEL a, directory lock ∥ Go ADD a"),
  },
  {
    name: "what a call reserves is not noted",
    file: journal,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source
    from: "    this.#lines += `${key} ${name}${record}\\n`;\n    this.#difference++;\n",
    to: "    this.#difference++;\n",
    cast: cast("DEL a, ADD a"),
  },
  {
    name: "a change that failed and took effect is sealed",
    file: journal,
    from: "else if (!isSystemError(error, ...UNCHANGED)) this.#state = OFF;",
    to: "else this.#changed();",
    cast: cast("DEL a, ADD a"),
    trouble: odd,
  },
  {
    name: "a journal is sealed although a file could not be read",
    file: ledger,
    from: "if (!isComplete) this.journal.abandon();",
    to: "",
    cast: cast("DEL a", {
      name: "after a Go ADD",
      before: "ADD c, Go ADD a",
    }),
    trouble: error,
  },
  {
    name: "the number of reservations ignores what is reserved",
    file: journal,
    from: "    this.#difference++;\n",
    to: "",
    cast: cast("ADD a", nearlyFull),
  },
  {
    name: "temporary files are never swept",
    file: network,
    from: "this.files.sweepTemporary();",
    to: "",
    cast: cast("ADD a"),
    trouble: kill,
  },
  {
    name: "temporary files of others are swept",
    file: "store/files/temporary.ts",
    from: "const ABANDONED_AFTER = 60_000;",
    to: "const ABANDONED_AFTER = -1000;",
    cast: cast("GC c ∥ ADD c, directory lock", same),
  },
  {
    name: "a seal says less of the directory",
    file: "store/files/fingerprint.ts",
    from: "return now.id === before.id && now.changed === before.changed;",
    to: 'return now.id.split(",")[0] === before.id.split(",")[0] && now.changed === before.changed;',
    cast: cast("DEL c ∥ Go ADD c"),
  },
  {
    name: "an ADD that fails keeps what it has",
    file: "verbs/add.ts",
    from: "    network.undo(attachment, network.made);\n    throw failureOf",
    to: "    throw failureOf",
    cast: cast("ADD a", dual),
    trouble: error,
  },
  {
    name: "the lock is released before the journal is sealed",
    file: lock,
    from: "      return body(network);\n",
    to: "      const done = body(network);\n      lock?.release();\n      return done;\n",
    cast: cast("ADD a ∥ Go ADD b"),
  },
  {
    name: "an ADD and its UNDO go on without the lock",
    file: lock,
    from: "const held = lock ?? takeOrExplain();",
    to: "const held = lock ?? { release: () => {}, excludesGoPlugin: false };",
    cast: cast("ADD a, unheard ∥ ADD a", same),
    trouble: error,
  },
  {
    name: "a journal that is written anew twice in a boot forgets what is from before it",
    file: journal,
    from: "for (const line of journal.found) all.push",
    to: "for (const line of journal.found.filter((one) => /[/]/.test(one))) all.push",
    cast: cast("ADD a", booted),
    trouble: kill,
  },
  {
    name: "a file that is just being written is reclaimed",
    file: "store/reservations/usage.ts",
    from: "isSettled(system.linkStatus(path), system.now()) && ",
    to: "",
    cast: cast("Go ADD a ∥ ADD b, directory lock", nearlyFull),
  },
  {
    name: "the cursor is not moved",
    file: "store/allocation.ts",
    from: "return this.#withCursor(index, this.#allocateNext(set, cursor, own));",
    to: "return this.#allocateNext(set, cursor, own);",
    cast: cast("ADD a"),
  },
  {
    name: "the cursor is cut off and then written",
    file: "store/reservations/cursor.ts",
    from: "  recover(() => files.system.overwriteFile(path, content)",
    to: `  const extend = (): void => files.system.extendFile(path, content, "");
  recover(() => [files.system.overwriteFile(path, ""), extend()]`,
    cast: cast("ADD a"),
    trouble: kill,
  },
  {
    name: "a reservation that is gone is an error",
    file: "store/reservations/reservation-file.ts",
    from: '  return attempt(remove, false, "ENOENT");',
    to: "  return remove();",
    cast: cast("DEL c ∥ DEL c, directory lock"),
  },
  {
    name: "a link that was made and failed is taken for another's",
    file: network,
    from: "return isSameFile(system, temporary, path);",
    to: "return false;",
    cast: cast("ADD a"),
    trouble: odd,
  },
  {
    name: "a journal that is written anew after a boot forgets what is from before it",
    file: journal,
    from: "for (const line of linesBeforeBoot(this.#files, journal, read)) all.push(line);",
    to: "",
    cast: cast("ADD a", booted),
  },
  {
    name: "a DEL that could not read a file says nothing",
    file: "verbs/del.ts",
    from: "  if (held.length > 0) return;\n",
    to: "  if (held.length >= 0) return;\n",
    cast: cast("DEL c", {
      name: "of the Go plugin",
      before: "Go ADD c",
    }),
    trouble: error,
  },
  {
    name: "a second ADD gets a second address",
    file: "store/allocation.ts",
    from: "if (duplicate === undefined || this.#reclaimAll(",
    to: 'if (duplicate?.name !== "" || this.#reclaimAll(',
    cast: cast("ADD a ∥ ADD a"),
  },
  {
    name: "a call that has read all files does not count them again",
    file: journal,
    from: "countReservations(this.#files) !== reservations",
    to: "countReservations(this.#files) < 0",
    cast: cast("DEL a ∥ ADD a, directory lock", dual),
  },
  {
    name: "the history tells a release before it is made",
    file: network,
    from: "    const isRemoved = this.change(() => removeReservation(this.files, name));\n",
    to: "    this.ledger.released(name, owner, true);\n    const isRemoved = this.change(() => removeReservation(this.files, name));\n    if (isRemoved) return;\n",
    cast: cast("DEL c", { name: "history", ipam: { history: true } }),
    trouble: error,
  },
  {
    name: "DEL and GC take no lock",
    file: lock,
    from: "  const lock = attempt(() => take(files, options), undefined);\n  return",
    to: "  const lock = undefined;\n  return",
    cast: cast("DEL c ∥ DEL c, ADD b", full),
  },
  // What became of a namespace.
  {
    name: "a path that leads to any namespace shows that one lives",
    file: states,
    from: 'if (found.kind === "exists" && found.id === nameOf(inode)) return alive',
    to: 'if (found.kind === "exists") return alive',
    cast: cast("ADD a", graves.itsPathUsed),
  },
  {
    name: "the processes in a namespace are not asked for",
    file: states,
    from: "for (const [id, [task]] of tasks)",
    to: "for (const [id, [task]] of [])",
    cast: cast("ADD a", graves.zombie),
  },
  {
    name: "the processes of the node are listed once",
    file: view,
    from: "if (unread.length === 0) return true;",
    to: "if (lists > 0) return true;",
    cast: cast("ADD a ∥ fork d", graves.handedOver),
  },
  {
    name: "the mounts of a namespace are not asked for",
    file: states,
    from: "for (const { id, path } of mounts)",
    to: "for (const { id, path } of [])",
    cast: cast("ADD a", graves.mountedElsewhere),
  },
  {
    name: "a dead pod's number that is a living one's keeps its address",
    file: states,
    from: "if (heir !== undefined) return gone",
    to: "if (heir?.inode === path) return gone",
    cast: cast("ADD a", graves.itsNumberUsed),
  },
  {
    name: "a dead pod's number that is the caller's keeps its address",
    file: "store/journal/reclaimable.ts",
    from: "yield caller.namespace;",
    to: "{}",
    cast: cast("ADD a", graves.gone),
  },
  {
    name: "another process of the same id keeps the address of a dead one",
    file: states,
    from: "if (processIn(path) !== undefined) return undefined;",
    to: "if (processIn(path) !== undefined) return path;",
    cast: cast("ADD a", graves.itsProcessAnother),
  },
  {
    name: "what a container does not see is gone",
    file: "store/namespaces/sight.ts",
    from: "=== HOST_PROCESSES",
    to: '!== ""',
    cast: cast("ADD a", graves.unseen),
  },
  {
    name: "what is in a directory that is not seen is gone",
    file: states,
    from: "if (!(names instanceof SystemError)) return undefined;",
    to: "if (names !== undefined) return undefined;",
    cast: cast("ADD a", graves.directoryUnseen),
  },
  {
    name: "a handle is not asked for",
    file: states,
    from: "if (id === undefined) return undefined;",
    to: 'if (id !== "") return undefined;',
    cast: cast("ADD a", handles.open),
  },
  {
    name: "who may not see a namespace takes it for one that is gone",
    file: states,
    from: "return this.#seesAll ? false : undefined;",
    to: "return false;",
    cast: cast("ADD a", handles.blind),
  },
  {
    name: "the addresses in a namespace are not asked for where nothing is recorded",
    file: gc,
    from: "namespaces.withAddress(text);",
    to: 'namespaces.withAddress("");',
    cast: cast("GC c", graves.ofGoPlugin),
  },
  // Who asks.
  {
    name: "GC takes null for an empty list",
    file: "cni/valid-attachments.ts",
    from: "if (at === undefined || at.value === null) return undefined;",
    to: "if (at === undefined) return undefined;\n  if (at.value === null) return [];",
    cast: cast("GC null", graves.ofNoPod),
  },
  {
    name: "GC does not ask for the namespaces of what its list lacks",
    file: gc,
    from: "if (state !== undefined) return state",
    to: "if (state !== undefined) return undefined;\n  if (state !== undefined) return state",
    cast: cast("GC c", full),
  },
  {
    name: "GC releases what was reserved just now",
    file: gc,
    from: "const SETTLED_AFTER = 2000;",
    to: "const SETTLED_AFTER = 0;",
    cast: cast("GC c ∥ Go ADD b"),
  },
  {
    name: "GC without a list releases what is no pod's",
    file: gc,
    from: "gone(isReclaimable)",
    to: "gone(() => true)",
    cast: cast("GC null", graves.ofNoPod),
  },
  {
    name: "an ADD in a full range reclaims nothing of this boot",
    file: network,
    from: "for (const dead of this.namespaces.gone(isMeant, caller)) {",
    to: "for (const dead of [...this.namespaces.gone(isMeant, caller)].slice(0, 0)) {",
    cast: cast("ADD a", graves.gone),
  },
  {
    name: "an ADD in a full range reclaims what is no pod's",
    file: network,
    from: "(isReclaimable(record) ||",
    to: '(record.name !== "" ||',
    cast: cast("ADD a", graves.ofNoPod),
  },
  {
    name: "an ADD reclaims although it is told not to",
    file: "store/allocation.ts",
    from: "if (!reclaims) return undefined;",
    to: "",
    cast: cast("ADD a", graves.never),
  },
  {
    name: "a requested address stays with a dead pod",
    file: "store/allocation.ts",
    from: "return take() || (",
    to: "return take() && (",
    cast: cast("ADD b of 10.0.0.3", graves.gone),
  },
  {
    name: "a container that is started again is refused for its former namespace",
    file: "store/allocation.ts",
    from: "duplicate === undefined || this.#reclaimAll(names)",
    to: "duplicate === undefined",
    cast: cast("ADD d", graves.gone),
  },
  // The commands.
  {
    name: "the command gc releases what was reserved just now",
    file: "operator/gc/decision.ts",
    from: "(age < 0 || age < grace) && !isAhead(written, now)",
    to: "age < 0 && age > 0",
    cast: cast("gc --live c ∥ Go ADD b"),
  },
  {
    name: "a list decides against a network namespace that is there",
    file: "operator/gc/decision.ts",
    from: 'conclusion.liveness === "unknown" && conclusion.by !== "unread"',
    to: 'conclusion.by !== "process"',
    cast: cast("gc --live c", full),
  },
  {
    name: "the command gc releases without a list what is no pod's",
    file: "operator/alive/conclusion.ts",
    from: 'recorded?.kind === "gone" && recorded.isPodSandbox ?',
    to: 'recorded?.kind === "gone" ?',
    cast: cast("gc", graves.ofNoPod),
  },
  {
    name: "the command gc releases what the same container has got again since it has looked",
    file: "operator/held/release.ts",
    from: "now.status.id === status?.id",
    to: "status !== undefined",
    cast: cast("gc ∥ DEL d, ADD d", graves.goneForGood),
  },
  {
    name: "release does not refuse what lives",
    file: "operator/reservations/release.ts",
    from: 'if (result.liveness === "dead") return [];',
    to: 'if (result.reason !== "") return [];',
    cast: cast("release c", living),
  },
  {
    name: "release takes what has changed since it has looked",
    file: "operator/held/release.ts",
    from: "reservations.filter(isUnchanged)",
    to: "reservations",
    cast: cast("release d ∥ DEL d, ADD d", graves.goneForGood),
  },
  {
    name: "release believes libcni's cache of a container that is being started again",
    file: "operator/alive/conclusion.ts",
    from: " && !evidence.isJustReserved",
    to: "",
    cast: cast("release d ∥ ADD d", graves.remembered),
  },
];
