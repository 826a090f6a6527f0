/** What directories list, each read once: of a thousand paths that are gone, none takes a system call. */

import { itself, recover, type System, SystemError } from "../../system/system.ts";
import { parentOf } from "../files/paths.ts";

/** The directories of paths, as they were when they were first asked for. */
export class ListedDirectories {
  readonly #system: System;
  readonly #names = new Map<string, ReadonlySet<string> | SystemError>();

  constructor(system: System) {
    this.#system = system;
  }

  /** The names in a directory, or why they are not known. */
  namesIn(directory: string): ReadonlySet<string> | SystemError {
    const known = this.#names.get(directory);
    if (known !== undefined) return known;
    const names = recover(() => new Set(this.#system.list(directory)), itself);
    this.#names.set(directory, names);
    return names;
  }

  /** Whether the directory of a path is there, and does not have it. */
  lack(path: string): boolean {
    const directory = parentOf(path);
    const name = nameIn(path);
    if (UNLISTED.includes(name)) return false;
    const names = this.namesIn(directory);
    return !(names instanceof SystemError) && !names.has(name);
  }
}

/** Names that lead somewhere, and are in no list. */
const UNLISTED: readonly string[] = ["", ".", ".."];

/** The last name of a path. */
export function nameIn(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
