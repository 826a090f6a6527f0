/** Defects of the protocol, each in place of one function: a search is worth something only if it finds them. */

import { againByGoPlugin } from "./plan.ts";
import { type Change, programsWith } from "./plugin-with.ts";
import {
  afterGoPlugin,
  type Cast,
  cast,
  forgotten,
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
  /** No trouble by default. */
  readonly trouble?: Trouble;
}

/**
 * The shortest schedule that shows a defect, and the rules that it breaks; `undefined` if the search does not find the defect.
 */
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
const journalFile = "store/journal/journal-file.ts";
const journal = "store/journal/journal.ts";
const states = "store/namespaces/namespace-state.ts";
const reservationStates = "store/journal/reservation-states.ts";
const fingerprint = "store/files/fingerprint.ts";
const sight = "store/namespaces/sight.ts";
const view = "store/namespaces/view.ts";
const gc = "verbs/gc.ts";
const reservations = "store/reservations/reservation-file.ts";
const addressUse = "store/namespaces/address-use.ts";
const linkedAddresses = "store/namespaces/linked-addresses.ts";

/** An expression: whether the journal that is written anew belongs to this boot. */
const isOfBoot = 'attempt(() => state.findLines(FILE, undefined).first, "").includes(seal.boot)';

export const bugs: readonly Bug[] = [
  {
    name: "no lock is taken",
    file: lock,
    place: "take",
    instead:
      "(...words) => { const lock = original(...words); lock.release(); return { ...lock, release: () => {} }; }",
    cast: cast("ADD a ∥ ADD a"),
  },
  {
    name: "a reservation is created and then written",
    file: reservations,
    place: "linkReservation",
    instead:
      "(system, temporary, path) => system.createFile(path, system.readFile(temporary, LARGEST_RESERVATION), 0o600)",
    cast: cast("ADD a"),
    trouble: kill,
  },
  {
    name: "a reservation is renamed into its place",
    file: reservations,
    place: "linkReservation",
    instead: "(system, temporary, path) => system.rename(temporary, path)",
    cast: cast("ADD a ∥ ADD b, directory lock"),
  },
  {
    name: "an UNDO releases by the owner",
    file: network,
    place: "LockedNetwork.undo",
    instead:
      "function (attachment, made) { for (const { name } of made) attempt(() => this.release({ name, owner: ownerOf(attachment) }), undefined); }",
    cast: cast("ADD a, unheard ∥ DEL a, ADD a", nearlyFull),
  },
  {
    name: "a file is known by its number alone",
    file: fingerprint,
    place: "fileIdOf",
    instead: "(status) => original({ ...status, modified: 0n })",
    cast: cast("ADD a, unheard ∥ DEL a, ADD a", nearlyFull),
  },
  {
    name: "there is no UNDO",
    file: "verbs/add.ts",
    place: "undoIfPossible",
    instead: "() => {}",
    cast: cast("ADD a, unheard"),
  },
  {
    name: "a repeated ADD keeps the file",
    file: network,
    place: "LockedNetwork.useAgain",
    instead: "() => {}",
    cast: cast("ADD a, unheard ∥ ADD a", same),
  },
  {
    name: "a seal is believed whatever the directory says",
    file: fingerprint,
    place: "isUnchanged",
    instead: "() => true",
    cast: cast("DEL c, ADD c", {
      name: "after a Go DEL and ADD",
      before: "ADD c, DEL c, Go ADD c",
    }),
  },
  {
    name: "a seal is put beside a writer without the lock",
    file: journal,
    place: "Journal",
    instead:
      "class extends original { constructor(files, lock) { super(files, lock && { excludesGoPlugin: true }); } }",
    cast: cast("DEL a, directory lock ∥ Go ADD a"),
  },
  {
    name: "what a call reserves is not noted",
    file: journal,
    place: "Journal.reserved",
    instead: 'function (key, ...words) { original.call(this, "another eth0", ...words); }',
    cast: cast("DEL a, ADD a"),
  },
  {
    name: "a change that failed and took effect is sealed",
    file: journal,
    place: "Journal.tracked",
    instead:
      'function (change) { const outcome = original.call(this, () => recover(() => ({ made: change() }), (error) => ({ error }))); if ("error" in outcome) throw outcome.error; return outcome.made; }',
    cast: cast("DEL a, ADD a"),
    trouble: odd,
  },
  {
    name: "a journal is sealed although a file could not be read",
    file: ledger,
    place: "Ledger.searched",
    instead: "function (scan) { original.call(this, scan, true); }",
    cast: cast("DEL a", {
      name: "after a Go ADD",
      before: "ADD c, Go ADD a",
    }),
    trouble: error,
  },
  {
    name: "temporary files are never swept",
    file: "store/files/network-files.ts",
    place: "NetworkFiles.sweepTemporary",
    instead: "() => {}",
    cast: cast("ADD a"),
    trouble: kill,
  },
  {
    name: "temporary files of others are swept",
    file: "store/files/temporary.ts",
    place: "abandonedIn",
    instead:
      '(system, { directory, prefix }) => attempt(() => system.list(directory), []).filter((name) => isTemporaryName(name, prefix)).map((name) => [directory, name].join("/"))',
    cast: cast("GC c ∥ ADD c, directory lock", same),
  },
  {
    name: "a seal says less of the directory",
    file: fingerprint,
    place: "isUnchanged",
    instead:
      '(now, before) => now.changed === before.changed && now.id.split(",")[0] === before.id.split(",")[0]',
    cast: cast("DEL c ∥ Go ADD c"),
  },
  {
    name: "an ADD that fails keeps what it has",
    file: network,
    place: "LockedNetwork.undo",
    instead:
      "function (attachment, made) { if (made !== this.made) original.call(this, attachment, made); }",
    cast: cast("ADD a", dual),
    trouble: error,
  },
  {
    name: "an ADD and its UNDO go on without the lock",
    file: lock,
    place: "take",
    instead:
      '(...words) => recover(() => original(...words), (error) => { if (error.code === "ENOENT") throw error; return { release: () => {}, excludesGoPlugin: false }; })',
    cast: cast("ADD a, unheard ∥ ADD a", same),
    trouble: error,
  },
  {
    name: "a journal that is written anew twice in a boot forgets what is from before it",
    file: journalFile,
    place: "renewJournal",
    instead: `(state, scan, seal, records, ...words) => original(state, scan, seal, ${isOfBoot} ? new Map() : records, ...words)`,
    cast: cast("ADD a", booted),
    trouble: kill,
  },
  {
    name: "a file that is just being written is reclaimed",
    file: "store/reservations/usage.ts",
    place: "isRemovable",
    instead:
      '(system, path) => attempt(() => system.linkStatus(path).kind === "file" && isBlankFile(system, path), false)',
    cast: cast("Go ADD a ∥ ADD b, directory lock", nearlyFull),
  },
  {
    name: "the cursor is not moved",
    file: "store/reservations/cursor.ts",
    place: "writeCursor",
    instead: "() => {}",
    cast: cast("ADD a"),
  },
  {
    name: "the cursor is cut off and then written",
    file: "store/reservations/cursor.ts",
    place: "writeCursor",
    instead:
      '(files, index, address) => { const path = cursorPath(files, index); recover(() => { files.system.overwriteFile(path, ""); files.system.extendFile(path, formatAddress(address), ""); }, () => original(files, index, address)); }',
    cast: cast("ADD a"),
    trouble: kill,
  },
  {
    name: "a reservation that is gone is an error",
    file: "store/reservations/reservation-file.ts",
    place: "removeReservation",
    instead: "(files, name) => { files.system.unlink(files.pathOf(name)); return true; }",
    cast: cast("DEL c ∥ DEL c, directory lock"),
  },
  {
    name: "a link that was made and failed is taken for another's",
    file: network,
    place: "isSameFile",
    instead: "() => false",
    cast: cast("ADD a"),
    trouble: odd,
  },
  {
    name: "a journal that is written anew after a boot forgets what is from before it",
    file: "store/journal/earlier-boots.ts",
    place: "linesBeforeBoot",
    instead: "() => []",
    cast: cast("ADD a", booted),
  },
  {
    name: "a DEL that could not read a file says nothing",
    file: "store/release.ts",
    place: "shortened",
    instead: "() => []",
    cast: cast("DEL c", {
      name: "of the Go plugin",
      before: "Go ADD c",
    }),
    trouble: error,
  },
  {
    name: "a second ADD gets a second address",
    file: "store/allocation.ts",
    place: "Allocator",
    instead:
      "class extends original { constructor(network, request) { super(network, { ...request, held: [] }); } }",
    cast: cast("ADD a ∥ ADD a"),
  },
  {
    name: "a call that has read all files does not count them again",
    file: journal,
    place: "hasMissed",
    instead: "() => false",
    cast: cast("DEL a ∥ ADD a, directory lock", dual),
  },
  {
    name: "the history tells a release before it is made",
    file: network,
    place: "PossiblyLockedNetwork.release",
    instead:
      "function (reservation) { const { name, owner } = reservation; this.ledger.released(name, owner, true); this.ledger.released = () => {}; try { original.call(this, reservation); } finally { delete this.ledger.released; } }",
    cast: cast("DEL c", { name: "history", ipam: { history: true } }),
    trouble: error,
  },
  {
    name: "DEL and GC take no lock",
    file: lock,
    place: "withLockIfPossible",
    instead:
      "(files, options, body) => runIn(new PossiblyLockedNetwork(files, undefined, options.reuse), undefined, options, body)",
    cast: cast("DEL c ∥ DEL c, ADD b", full),
  },
  // Defects in finding out what became of a namespace.
  {
    name: "a path that leads to any namespace shows that one lives",
    file: states,
    place: "NamespaceStates.stateOf",
    instead:
      'function (namespace, laterThan) { return this.at(namespace.path).kind === "exists" ? alive(namespace.path) : original.call(this, namespace, laterThan); }',
    cast: cast("ADD a", graves.itsPathUsed),
  },
  {
    name: "the processes in a namespace are not asked for",
    file: states,
    place: "evidenceOf",
    instead: "(view) => original({ ...view, tasks: new Map() })",
    cast: cast("ADD a", graves.zombie),
  },
  {
    name: "the processes of the node are listed once",
    file: view,
    place: "lookAround",
    instead:
      '(system) => { let lists = 0; const list = (path) => (path === "/proc" && lists++ > 0 ? [] : Object.getPrototypeOf(system).list.call(system, path)); system.list = list; try { return original(system); } finally { delete system.list; } }',
    cast: cast("ADD a ∥ fork d", graves.handedOver),
  },
  {
    name: "the mounts of a namespace are not asked for",
    file: states,
    place: "evidenceOf",
    instead: "(view) => original({ ...view, mounts: [] })",
    cast: cast("ADD a", graves.mountedElsewhere),
  },
  {
    name: "a dead pod's number that is a living one's keeps its address",
    file: states,
    place: "NamespaceStates.isGone",
    instead: "function (namespace) { return original.call(this, namespace, () => []); }",
    cast: cast("ADD a", graves.itsNumberUsed),
  },
  {
    name: "a dead pod's number that is the caller's keeps its address",
    file: reservationStates,
    place: "ReservationStates.gone",
    instead: "function (isMeant) { return original.call(this, isMeant); }",
    cast: cast("ADD a", graves.gone),
  },
  {
    name: "another process of the same id keeps the address of a dead one",
    file: states,
    place: "processIn",
    instead: "() => undefined",
    cast: cast("ADD a", graves.itsProcessAnother),
  },
  {
    name: "what a container does not see is gone",
    file: sight,
    place: "seesHostProcesses",
    instead: "() => true",
    cast: cast("ADD a", graves.unseen),
  },
  {
    name: "what is in a directory that is not seen is gone",
    file: "store/namespaces/listed-directories.ts",
    place: "ListedDirectories.namesIn",
    instead:
      "function (directory) { const names = original.call(this, directory); return names instanceof SystemError ? new Set() : names; }",
    cast: cast("ADD a", graves.directoryUnseen),
  },
  {
    name: "a handle is not asked for",
    file: states,
    place: "NamespaceStates.isGone",
    instead:
      "function ({ inode, path }, laterThan) { return original.call(this, { inode, path }, laterThan); }",
    cast: cast("ADD a", handles.open),
  },
  {
    name: "who may not see a namespace takes it for one that is gone",
    file: sight,
    place: "seesAllNamespaces",
    instead: "() => true",
    cast: cast("ADD a", handles.blind),
  },
  {
    name: "later threads are not looked at",
    file: view,
    place: "tasksOf",
    instead: "(system, processId) => original(system, processId)?.slice(0, 1)",
    cast: cast("ADD a", graves.thread),
  },
  {
    name: "the addresses in a namespace are not asked for where nothing is recorded",
    file: "store/namespaces/addresses-in-use.ts",
    place: "AddressesInUse.withAddress",
    instead: "() => []",
    cast: cast("GC c", graves.ofGoPlugin),
  },
  // Defects about the process that asks.
  {
    name: "GC takes null for an empty list",
    file: "cni/valid-attachments.ts",
    place: "validAttachments",
    instead: "(document) => original(document) ?? []",
    cast: cast("GC null", graves.ofNoPod),
  },
  {
    name: "GC does not ask for the namespaces of what its list lacks",
    file: gc,
    place: "whyAlive",
    instead:
      "(network, reservation, ...words) => network.states().stateOf(reservation.name) === undefined ? original(network, reservation, ...words) : undefined",
    cast: cast("GC c", { ...full, hasTaps: true }),
  },
  {
    name: "GC releases what was reserved just now",
    file: gc,
    place: "whyAlive",
    instead:
      "(network, reservation, inUse, begun) => original(network, reservation, inUse, begun + SETTLED_AFTER)",
    cast: cast("GC c ∥ Go ADD b"),
  },
  {
    name: "an ADD in a full range reclaims nothing of this boot",
    file: reservationStates,
    place: "ReservationStates.gone",
    instead: "() => []",
    cast: cast("ADD a", graves.gone),
  },
  {
    name: "an ADD in a full range reclaims what is no pod's",
    file: "store/journal/record.ts",
    place: "isReclaimable",
    instead: "() => true",
    cast: cast("ADD a", graves.ofNoPod),
  },
  {
    name: "an ADD reclaims although it is told not to",
    file: "store/allocation.ts",
    place: "Allocator",
    instead:
      "class extends original { constructor(network, request) { super(network, { ...request, reclaims: true }); } }",
    cast: cast("ADD a", graves.never),
  },
  {
    name: "a requested address stays with a dead pod",
    file: "store/allocation.ts",
    place: "Allocator",
    instead:
      "class extends original { #strict; constructor(network, request) { super(network, request); this.#strict = new original(network, { ...request, reclaims: false }); } allocate(set, index, requested) { return requested === undefined ? super.allocate(set, index) : this.#strict.allocate(set, index, requested); } }",
    cast: cast("ADD b of 10.0.0.3", graves.gone),
  },
  {
    name: "a container that is started again is refused for its former namespace",
    file: "store/allocation.ts",
    place: "Allocator",
    instead:
      "class extends original { constructor(network, request) { super(network, { ...request, reclaims: request.reclaims && request.held.length === 0 }); } }",
    cast: cast("ADD d", graves.gone),
  },
  // Defects about living pods that the directory does not know.
  {
    name: "an ADD does not ask which addresses are in use",
    file: addressUse,
    place: "AddressUse.userOf",
    instead: "() => undefined",
    cast: cast("ADD a", forgotten.lost),
  },
  {
    name: "an ADD gives its network namespace no id",
    file: linkedAddresses,
    place: "LinkedAddresses",
    instead: "class extends original { constructor(system) { super(system); } }",
    cast: cast("ADD a, lose all, ADD b", { name: "macvlan", before: "macvlan all" }),
  },
  {
    name: "an ADD reclaims of a dead pod what another network namespace has",
    file: addressUse,
    place: "AddressUse.whyKept",
    instead: "() => undefined",
    cast: cast("ADD a", forgotten.moved),
  },
  {
    name: "an ADD that reclaims asks about linked network namespaces alone",
    file: addressUse,
    place: "AddressUse.whyKept",
    instead: "function (address) { return this.userOf(address); }",
    cast: cast("ADD a", forgotten.movedOfMacvlan),
  },
  {
    name: "an ADD gets a requested address that is in use",
    file: "store/allocation.ts",
    place: "Allocator",
    instead:
      "class extends original { constructor(network, request) { super(network, { ...request, use: { userOf: () => undefined, whyKept: () => undefined } }); } }",
    cast: cast("ADD b of 10.0.0.3", forgotten.lost),
  },
  {
    name: "which addresses are in use is asked before the lock is taken",
    file: lock,
    place: "withLock",
    instead:
      "(files, options, body) => { const before = files.system.linkedAddresses(4); files.system.linkedAddresses = () => before; return original(files, options, body); }",
    cast: cast("ADD a, lose all ∥ ADD b"),
  },
  {
    name: "GC releases what only a descriptor holds",
    file: "store/namespaces/addresses-in-use.ts",
    place: "AddressesInUse.whyUsed",
    instead:
      "function (address, ...rest) { return this.withAddress(address).length === 0 ? undefined : original.call(this, address, ...rest); }",
    cast: cast("GC c", forgotten.openOfGoPlugin),
  },
  // Defects of the commands.
  {
    name: "the command gc releases what was reserved just now",
    file: "operator/gc/decision.ts",
    place: "decideBy",
    instead: "(rules) => original({ ...rules, grace: 0 })",
    cast: cast("gc --live c ∥ Go ADD b"),
  },
  {
    name: "a list decides against a network namespace that is there",
    file: "operator/gc/decision.ts",
    place: "decideBy",
    instead:
      '(rules) => { const decide = original(rules); return (known) => decide(known.conclusion.by === "process" ? known : { ...known, conclusion: { liveness: "unknown", by: "view", reason: "" } }); }',
    cast: cast("gc --live c", full),
  },
  {
    name: "the command gc releases without a list what is no pod's",
    file: "store/life/conclusion.ts",
    place: "conclude",
    instead:
      '(evidence) => original(new Proxy(evidence, { get: (all, key) => (key === "fate" && all.fate?.kind === "gone" ? { ...all.fate, kind: "dead", by: "record" } : Reflect.get(all, key, all)) }))',
    cast: cast("gc", graves.ofNoPod),
  },
  {
    name: "the command gc takes what is not seen for what nobody knows",
    file: "store/life/conclusion.ts",
    place: "conclude",
    instead:
      '(evidence) => original(new Proxy(evidence, { get: (all, key) => (key === "fate" && all.fate?.kind === "unseen" ? undefined : Reflect.get(all, key, all)) }))',
    cast: cast("gc", handles.openBlind),
  },
  {
    name: "the command gc believes libcni's cache that a namespace is gone although a process may run there",
    file: "store/life/conclusion.ts",
    place: "conclude",
    instead:
      '(evidence) => original(new Proxy(evidence, { get: (all, key) => key !== "stranger" && Reflect.get(all, key, all) || undefined }))',
    cast: cast("gc", graves.strange),
  },
  {
    name: "the command gc releases what the same container has got again since it has looked",
    file: "operator/held/release.ts",
    place: "isUnchanged",
    instead:
      "(reservation) => isSameOwner(reservation.network.read(reservation.name)?.owner ?? {}, reservation.owner)",
    cast: cast("gc ∥ DEL d, ADD d", graves.goneForGood),
  },
  {
    name: "release does not refuse what lives",
    file: "operator/reservations/release.ts",
    place: "isReleasable",
    instead: "() => true",
    cast: cast("release c", living),
  },
  {
    name: "release takes what has changed since it has looked",
    file: "operator/held/release.ts",
    place: "isUnchanged",
    instead: "() => true",
    cast: cast("release d ∥ DEL d, ADD d", graves.goneForGood),
  },
  {
    name: "release believes libcni's cache of a container that is being started again",
    file: "store/life/conclusion.ts",
    place: "conclude",
    instead:
      '(evidence) => original(new Proxy(evidence, { get: (all, key) => key !== "isJustReserved" && Reflect.get(all, key, all) }))',
    cast: cast("release d ∥ ADD d", graves.remembered),
  },
  {
    name: "a change by another program voids every record",
    file: journalFile,
    place: "renewJournal",
    instead: `(state, scan, seal, records, ...words) => original(state, scan, seal, ${isOfBoot} ? new Map([...records].filter(([, line]) => !line.includes("/"))) : records, ...words)`,
    cast: cast("ADD a", afterGoPlugin.gone),
  },
  {
    name: "a call that is killed voids every record",
    file: "store/journal/earlier-boots.ts",
    place: "recordsOf",
    instead:
      "(files, journal, ...words) => original(files, journal && { ...journal, found: journal.isCurrent ? journal.found : [] }, ...words)",
    cast: cast("GC null", afterGoPlugin.gone),
  },
  {
    name: "a record is of any file of its attachment",
    file: "store/journal/record.ts",
    place: "isOfRecord",
    instead: "(record, found, owner) => keyOf(owner) === record.key",
    cast: cast("GC null", afterGoPlugin.again),
  },
  {
    name: "a record knows a file by the kernel's date",
    file: fingerprint,
    place: "dateApart",
    instead: "(system, path) => attempt(() => system.linkStatus(path).modified, undefined)",
    cast: againByGoPlugin,
  },
  {
    name: "what failed is kept in two parts",
    file: "store/failed-calls/failed-calls-file.ts",
    place: "append",
    instead:
      '(system, line) => { system.makeDirectories("/run/host-local", 0o700); for (const part of [line.slice(0, 9), line.slice(9)]) system.appendLine("/run/host-local/failed-calls", part, 0o600); }',
    cast: cast("ADD a", full),
    trouble: kill,
  },
  {
    name: "what failed is kept as another container's",
    file: "verbs/keep-failure.ts",
    place: "keptCall",
    instead: '(...words) => ({ ...original(...words), container: "b" })',
    cast: cast("ADD a", full),
  },
];
