/** What is in a plugin directory: the plugin, those that it replaced, and the marker. */

import { join } from "../../store/files/paths.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, exists, type FileKind, type System } from "../../system/system.ts";
import { markerText, PLUGIN, STATIC } from "../node/plugin-directories.ts";
import { replaceByFile } from "../node/temporary-files.ts";
import { isOurs } from "./ask-versions.ts";

/** The paths of an installation. */
export interface Installation {
  /** The name of the plugin, and of its file. */
  readonly name: string;
  /** The plugin directory. */
  readonly directory: string;
  /** The installed executable. */
  readonly target: string;
  /** The plugin that was replaced last; as long as there was no other one, the version of this one that was. */
  readonly previous: string;
  /** The plugin that was replaced before that one. */
  readonly older: string;
  /** Present from the end of an installation until a rollback or removal begins. */
  readonly marker: string;
}

/** What a path leads to: nothing, a program that is not here, some version of this executable, or another one. */
export type PluginKind = "nothing" | "elsewhere" | "ours" | "other";

/** The installation of a plugin in a plugin directory. */
export function installationIn(directory: string, name: string = PLUGIN): Installation {
  return {
    name,
    directory,
    target: join(directory, name),
    previous: join(directory, `${name}.previous`),
    older: join(directory, `${name}.older`),
    marker: join(directory, `${name}.installed`),
  };
}

/** The installation of `static` beside that of `host-local`; none beside a plugin by another name. */
export function staticBeside({ name, directory }: Installation): readonly Installation[] {
  return name === PLUGIN ? [installationIn(directory, STATIC)] : [];
}

/** The kind of file at a path, symbolic links followed. */
export function kindAt(system: System, path: string): FileKind | "nothing" {
  return attempt(() => system.status(path).kind, "nothing", "ENOENT", "ENOTDIR");
}

/**
 * What a path leads to. A symbolic link whose program is not here may lead to one on the node, if this is a container: the
 * links of a snap lead to `/snap`.
 */
export function pluginKindAt(system: OperatorSystem, path: string): PluginKind {
  const kind = kindAt(system, path);
  if (kind === "nothing") return linkAt(system, path) === undefined ? "nothing" : "elsewhere";
  // A device may have no end.
  return kind === "file" && isOurs(system, path) ? "ours" : "other";
}

/** Whether `static` is a link to `host-local`, as archives have it: what that is, is another installer's to change. */
export function isLinkToHostLocal(system: System, { name }: Installation, path: string): boolean {
  return name === STATIC && /(?:^|\/)host-local$/.test(linkAt(system, path) ?? "");
}

/** Whether this program was installed, and another one is there now, or none. */
export function isReplaced(system: OperatorSystem, { target, marker }: Installation): boolean {
  return exists(system, marker) && pluginKindAt(system, target) !== "ours";
}

/** The text of the symbolic link at a path; `undefined` if there is none. */
export function linkAt(system: System, path: string): string | undefined {
  return attempt(() => system.readLink(path), undefined, "EINVAL", "ENOENT", "ENOTDIR");
}

/** Whether there is a file, or a symbolic link to wherever. */
export function isPresent(system: System, path: string): boolean {
  return kindAt(system, path) === "file" || linkAt(system, path) !== undefined;
}

/**
 * Says that this program is installed, which makes `--if-replaced` put it back.
 *
 * @throws SystemError
 */
export function mark(system: System, { name, marker }: Installation): void {
  const text = markerText(name);
  if (attempt(() => system.readFile(marker, text.length), undefined) === text) return;
  // Also a link is replaced: the plugin is installed already.
  replaceByFile(system, marker, text);
}

/**
 * Says that it is not any more.
 *
 * @throws SystemError
 */
export function unmark(system: System, { marker }: Installation): void {
  attempt(() => system.unlink(marker), undefined, "ENOENT");
}
