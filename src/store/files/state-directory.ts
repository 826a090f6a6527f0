/**
 * The state directory of a network, `.host-local/<network>`: files of this plugin that the Go plugin does not know and must
 * not find. It is used only where it cannot lead out of the data directory, and where no other user can have written what is in it.
 */

import {
  attempt,
  type Lines,
  NO_FILE,
  recover,
  type System,
  WRITABLE_BY_OTHERS,
} from "../../system/system.ts";
import { type TemporaryPlace, withTemporaryIn } from "./temporary.ts";

/** The one writer of the files in a state directory; `openStateDirectory` makes it. */
export class StateDirectory {
  readonly path: string;
  readonly temporary: TemporaryPlace;
  readonly #system: System;

  constructor(system: System, path: string) {
    this.#system = system;
    this.path = path;
    this.temporary = { directory: this.pathOf("new"), mode: 0o700, prefix: "" };
  }

  /** The path of a file. */
  pathOf(name: string): string {
    return `${this.path}/${name}`;
  }

  /**
   * The lines of a file; none where it is missing, cannot be read or is larger than ours are.
   *
   * @param limit in bytes: what somebody else has put there must not hold the lock for long
   */
  lines(name: string, limit: number): readonly string[] {
    const text = attempt(() => this.requireText(name, limit), "");
    return text === "" ? [] : text.split("\n");
  }

  /**
   * A file, where one that cannot be read matters; a missing one is empty.
   *
   * @throws SystemError
   */
  requireText(name: string, limit: number): string {
    const read = (): string => this.#system.readFile(this.pathOf(name), limit);
    return attempt(read, "", ...NO_FILE);
  }

  /**
   * The first line of a file, and those further ones that begin with `start`; none without `start`.
   *
   * @throws SystemError
   */
  findLines(name: string, start: string | undefined): Lines {
    return this.#system.findLines(this.pathOf(name), start);
  }

  /**
   * The lines of a file that have `text` in them.
   *
   * @throws SystemError
   */
  linesWith(name: string, text: string): readonly string[] {
    return this.#system.linesWith(this.pathOf(name), text);
  }

  /**
   * Appends text to an existing file, and then overwrites its beginning with `header`.
   *
   * @throws SystemError
   */
  extend(name: string, text: string, header = ""): void {
    this.#system.extendFile(this.pathOf(name), text, header);
  }

  /**
   * Replaces a file atomically; without lines it is removed.
   *
   * @throws SystemError
   */
  replaceLines(name: string, lines: readonly string[]): void {
    if (lines.length === 0) this.remove(name);
    else this.replace(name, `${lines.join("\n")}\n`);
  }

  /**
   * Replaces a file atomically.
   *
   * @param isDurable whether the new one is on disk before: else a loss of power may leave an empty file
   * @throws SystemError
   */
  replace(name: string, text: string, isDurable = false): void {
    withTemporaryIn(this.#system, this.temporary, text, (temporary) => {
      if (isDurable) this.#system.sync(temporary);
      this.#system.rename(temporary, this.pathOf(name));
    });
  }

  /**
   * Removes a file that may be missing.
   *
   * @throws SystemError
   */
  remove(name: string): void {
    attempt(() => this.#system.unlink(this.pathOf(name)), undefined, "ENOENT");
  }
}

/** Why a state directory is not used: what is wrong with a part of its path. */
export type StateFault =
  /** A part that cannot be looked at. */
  | { readonly kind: "unseen"; readonly path: string; readonly code: string }
  /** Behind a symbolic link, files would be made and removed outside the data directory. */
  | { readonly kind: "no directory"; readonly path: string }
  /** The owner is another user, who may have written what is in it. */
  | { readonly kind: "other user"; readonly path: string; readonly user: number }
  /** Group or others can write to it. */
  | { readonly kind: "writable"; readonly path: string; readonly mode: number };

const ROOT = 0;

/**
 * The state directory at a path, or why it is not used. The directory, the one above it, and that of its temporary files are
 * looked at; a missing one is made when it is needed.
 *
 * @param root the directory above it
 */
export function openStateDirectory(
  system: System,
  root: string,
  path: string,
): StateDirectory | StateFault {
  const state = new StateDirectory(system, path);
  for (const part of [root, path, state.temporary.directory]) {
    const fault = directoryFault(system, part);
    if (fault !== undefined) return fault;
  }
  return state;
}

/** Why a directory is neither written to nor believed; `undefined` where it may be used, or is missing. */
export function directoryFault(system: System, path: string): StateFault | undefined {
  const look = (): StateFault | undefined => {
    const { kind, user, mode } = system.permissions(path);
    if (kind !== "directory") return { kind: "no directory", path };
    // The user of this process is asked for only where it matters: nearly always the owner is root.
    if (user !== ROOT && user !== system.userId()) return { kind: "other user", path, user };
    return (mode & WRITABLE_BY_OTHERS) === 0 ? undefined : { kind: "writable", path, mode };
  };
  return recover(look, ({ code }) =>
    code === "ENOENT" ? undefined : { kind: "unseen", path, code },
  );
}

/** The name of the errno for a fault. */
export function errnoOfFault(fault: StateFault | undefined): string {
  if (fault?.kind === "unseen") return fault.code;
  return fault?.kind === "no directory" ? "ENOTDIR" : "EACCES";
}
