/** `OperatorSystem.openFiles` by one call a file. */

import type { NamedFile, OpenedFile, OpenedFiles, OperatorSystem } from "./operator-system.ts";
import { isAddressLike, wordsOf } from "./read-files.ts";
import { itself, recover, type System, SystemError } from "./system.ts";

const WRITABLE_BY_OTHERS = 0o022;

/** Opens the files of a directory that are named like addresses. */
export function openFilesBy(
  { listAddresses, openFile }: Pick<System, "listAddresses"> & Pick<OperatorSystem, "openFile">,
  path: string,
  limit: number,
): OpenedFiles {
  const open = (name: string): NamedFile => {
    return { name, file: recover(() => openFile(`${path}/${name}`, limit), itself) };
  };
  const names = listAddresses(path);
  const others = names.others.filter(isAddressLike).map(open);
  let usual = "";
  for (const quad of names.quads) {
    const named = open([24, 16, 8, 0].map((shift) => (quad >>> shift) & 255).join("."));
    const line = lineOf(named, quad);
    if (line === undefined) others.push(named);
    else usual += line;
  }
  return { usual, others };
}

/** `undefined` for a file that is not usual. */
function lineOf({ name, file }: NamedFile, quad: number): string | undefined {
  if (file instanceof SystemError || !isUsual(file)) return undefined;
  const { content, inode, modified, changed } = file;
  const words = typeof content === "string" ? wordsOf(content) : undefined;
  return words && `${words} ${name} ${inode},${modified} ${changed} ${quad}\n`;
}

function isUsual({ kind, mode }: OpenedFile): boolean {
  return kind === "file" && (mode & WRITABLE_BY_OTHERS) === 0;
}
