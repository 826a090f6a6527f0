/** Defects of the protocol, each a change of one place: what the search is worth is whether it finds them. */

import type { Change } from "./plugin-with.ts";
import { type Cast, cast, holding, type Trouble } from "./scenes.ts";

/** A defect, and where it shows. */
export interface Bug extends Change {
  readonly name: string;
  readonly cast: Cast;
  readonly trouble: Trouble;
}

const none: Trouble = { faults: [] };
const kill: Trouble = { faults: ["killed"] };
const error: Trouble = { faults: ["error"], codes: { changes: ["EIO"], reads: ["EIO"] } };
const odd: Trouble = { faults: ["done, but error"] };

const lock = "store/lock.ts";
const network = "store/locked-network.ts";
const journal = "store/journal/journal.ts";
const journalFile = "store/journal/journal-file.ts";

export const bugs: readonly Bug[] = [
  {
    name: "no lock is taken",
    file: lock,
    from: "const unlock = attempt(() => take(files, options), undefined);",
    to: "const unlock = attempt(() => take(files, options), undefined);\n  unlock?.();",
    cast: cast(["ADD a", "ADD a"]),
    trouble: none,
  },
  {
    name: "the lock is released before the journal is sealed",
    file: lock,
    from: "      return body(network);\n",
    to: "      const done = body(network);\n      unlock?.();\n      return done;\n",
    cast: cast(["ADD a", "ADD b"]),
    trouble: none,
  },
  {
    name: "without the lock the journal is written all the same",
    file: lock,
    from: "new LockedNetwork(files, unlock !== undefined, reuse)",
    to: "new LockedNetwork(files, true, reuse)",
    cast: cast(["ADD a, unheard", "ADD b"]),
    trouble: { faults: ["late"] },
  },
  {
    name: "a reservation is created and then written",
    file: network,
    from: "    system.link(temporary, path);\n  } catch (error) {\n    if (!isSystemError(error, \"EPERM\"",
    to: "    system.createFile(path, formatOwner(attachment), 0o600);\n  } catch (error) {\n    if (!isSystemError(error, \"EPERM\"",
    cast: cast(["ADD a"]),
    trouble: kill,
  },
  {
    name: "a reservation is renamed into its place",
    file: network,
    from: "    system.link(temporary, path);\n  } catch (error) {\n    if (!isSystemError(error, \"EPERM\"",
    to: "    system.rename(temporary, path);\n  } catch (error) {\n    if (!isSystemError(error, \"EPERM\"",
    cast: cast(["ADD a", "ADD b, directory lock"]),
    trouble: none,
  },
  {
    name: "an UNDO releases by the owner",
    file: "store/allocation.ts",
    from: "fileIdAt(files.system, files.pathOf(name)) === file",
    to: "true",
    cast: cast(["ADD a, unheard", "DEL a, ADD a"], { name: "nearly full", before: holding("c", "d") }),
    trouble: none,
  },
  {
    name: "a file is known by its time alone",
    file: "store/files/fingerprint.ts",
    from: "return `${inode},${modified}` as FileId;",
    to: "return `${modified}` as FileId;",
    cast: cast(["ADD a, unheard", "DEL a, ADD a"], { name: "nearly full", before: holding("c", "d") }),
    trouble: none,
  },
  {
    name: "there is no UNDO",
    file: "verbs/add.ts",
    from: "if (reserved.length > 0) {",
    to: "if (reserved.length > 99) {",
    cast: cast(["ADD a, unheard"]),
    trouble: none,
  },
  {
    name: "an ADD that fails keeps what it has",
    file: "verbs/add.ts",
    from: "    undo(network, ownReservations(network, attachment, allocations));\n    throw error;",
    to: "    throw error;",
    cast: cast(["ADD a"], {
      name: "IPv6 full",
      isDual: true,
      before: holding("c", "d", "e"),
    }),
    trouble: none,
  },
  {
    name: "a repeated ADD keeps the file",
    file: "verbs/add.ts",
    from: "    network.useAgain(held);\n",
    to: "",
    cast: cast(["ADD a, unheard", "ADD a"], { name: "repeatedAdd same", ipam: { repeatedAdd: "same" } }),
    trouble: none,
  },
  {
    name: "a repeated ADD does not look again whose the file is",
    file: network,
    from: "if (!isSameOwner(now, owner)) {",
    to: "if (files === undefined) {",
    cast: cast(["ADD c", "DEL c, directory lock", "ADD b, directory lock"], {
      name: "repeatedAdd same, nearly full",
      ipam: { repeatedAdd: "same" },
      before: holding("c", "d", "e"),
    }),
    trouble: none,
  },
  {
    name: "a release does not look again whose the file is",
    file: network,
    from: 'if (now.kind !== "unknown" && !isSameOwner(now, owner)) return;',
    to: "",
    cast: cast(["DEL c", "DEL c, directory lock", "ADD b, directory lock"], {
      name: "nearly full",
      before: holding("c", "d", "e"),
    }),
    trouble: none,
  },
  {
    name: "a seal is believed whatever the directory says",
    file: journalFile,
    from: "fingerprintOf(system.status(directory)) === seal.directory",
    to: "fingerprintOf(system.status(directory)) !== undefined",
    cast: cast(["DEL c, ADD c"], { name: "after a Go DEL and ADD", before: (calls) => [calls.add("c"), calls.del("c"), calls.asGo(calls.add("c"))] }),
    trouble: none,
  },
  {
    name: "a seal without a time of its own",
    file: "store/files/fingerprint.ts",
    from: "    system.setModified(directory, time);\n",
    to: "",
    cast: cast(["DEL a", "Go ADD a"]),
    trouble: none,
  },
  {
    name: "a seal is put beside a writer without the lock",
    file: journal,
    from: "isLocked && files.system.locksOutGoPlugin ? files.state",
    to: "isLocked ? files.state",
    cast: cast(["ADD a", "ADD b, directory lock"]),
    trouble: none,
  },
  {
    name: "what a call reserves is not noted",
    file: journal,
    from: "    this.#lines += heldLine(key, name);\n",
    to: "",
    cast: cast(["DEL a, ADD a"]),
    trouble: none,
  },
  {
    name: "a change that failed and took effect is sealed",
    file: journal,
    from: '      if (!isSystemError(error, "EEXIST", "ENOENT", "EXDEV")) this.#state = undefined;\n',
    to: "",
    cast: cast(["DEL a, ADD a"]),
    trouble: odd,
  },
  {
    name: "a journal is sealed although a file could not be read",
    file: network,
    from: "if (this.#unreadable.length > 0) this.#journal.abandon();",
    to: "",
    cast: cast(["DEL a"], { name: "after a Go ADD", before: (calls) => [calls.add("c"), calls.asGo(calls.add("a"))] }),
    trouble: error,
  },
  {
    name: "a DEL that could not read its file succeeds",
    file: "verbs/del.ts",
    from: "    network.unreadableOf(attachment),\n",
    to: "    [],\n",
    cast: cast(["DEL c"]),
    trouble: error,
  },
  {
    name: "a miss is believed",
    file: network,
    from: 'listing.isComplete || doubt === "trust"',
    to: 'listing.isComplete || doubt !== undefined',
    cast: cast(["DEL c"]),
    trouble: odd,
  },
  {
    name: "the number of reservations ignores releases",
    file: journal,
    from: "    if (isRemoved) this.#difference--;\n",
    to: "",
    cast: cast(["DEL c"], { name: "full", before: holding("c", "d", "e") }),
    trouble: none,
  },
  {
    name: "the number of reservations ignores what is reserved",
    file: journal,
    from: "    this.#difference++;\n",
    to: "",
    cast: cast(["ADD a"], { name: "nearly full", before: holding("c", "d") }),
    trouble: none,
  },
  {
    name: "temporary files of others are swept",
    file: "store/files/temporary.ts",
    from: "const ABANDONED_AFTER = 60_000;",
    to: "const ABANDONED_AFTER = -1000;",
    cast: cast(["ADD a", "GC c"]),
    trouble: { faults: ["no lock file"] },
  },
  {
    name: "temporary files are never swept",
    file: network,
    from: "if (this.#isLocked) this.files.sweepTemporary();",
    to: "",
    cast: cast(["ADD a"]),
    trouble: kill,
  },
  {
    name: "what lives counts as from before the boot",
    file: "store/journal/earlier-boots.ts",
    from: "seal.boot === boot || ",
    to: "",
    cast: cast(["Go DEL c", "ADD b"], {
      name: "full, reclaimAfterReboot",
      ipam: { reclaimAfterReboot: true },
      before: (calls) => [calls.add("c"), calls.add("d"), calls.asGo(calls.add("e"))],
    }),
    trouble: none,
  },
];
