/** `System.readFiles` by one call a file. */

import {
  type AddressFiles,
  isSystemError,
  itself,
  type NamedFile,
  recover,
  type System,
  SystemError,
} from "./system.ts";

/** Two words with CR LF between them, see `AddressFiles`. */
const PAIR = /^([a-zA-Z0-9][a-zA-Z0-9_.-]*)\r\n(?!\.{1,2}$)([!-.0-9;-~]{1,15})$/;

const WRITABLE_BY_OTHERS = 0o022;

/** Reads the files of a directory that are named like addresses. */
export function readFilesBy(
  { listAddresses, openFile }: Pick<System, "listAddresses" | "openFile">,
  path: string,
  limit: number,
  withStatus: boolean,
): AddressFiles {
  const lines: string[] = [];
  const others: NamedFile[] = [];
  const read = (name: string, quad?: number): void => {
    const file = recover(() => openFile(`${path}/${name}`, limit), itself);
    // It was removed meanwhile.
    if (isSystemError(file, "ENOENT")) return;
    const line = lineOf({ name, file }, withStatus, quad);
    if (line === undefined) others.push({ name, file });
    else lines.push(`${line}\n`);
  };
  const names = listAddresses(path);
  for (const name of names.others) if (/^[0-9a-fA-F.:]*$/.test(name)) read(name);
  for (const quad of names.quads) {
    read([24, 16, 8, 0].map((shift) => (quad >>> shift) & 255).join("."), quad);
  }
  return { usual: lines.join(""), count: lines.length, others };
}

/** `undefined` for a file that is not usual. */
function lineOf({ name, file }: NamedFile, withStatus: boolean, quad?: number): string | undefined {
  if (file instanceof SystemError || typeof file.content !== "string") return undefined;
  const { kind, mode, inode, modified, changed } = file;
  const words = PAIR.exec(file.content);
  if (words === null) return undefined;
  const line = `${words[1]} ${words[2]} ${name}`;
  if (!withStatus) return line;
  const isUsual = kind === "file" && (mode & WRITABLE_BY_OTHERS) === 0;
  return isUsual ? `${line} ${inode},${modified} ${changed} ${quad ?? ""}` : undefined;
}
