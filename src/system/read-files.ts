/** `System.readFiles` by one call a file. */

import {
  type AddressFiles,
  isSystemError,
  itself,
  type NamedFile,
  recover,
  type System,
  SystemError,
  WRITABLE_BY_OTHERS,
} from "./system.ts";

/** Two words with CR LF between them, see `AddressFiles`. */
const PAIR = /^([a-zA-Z0-9][a-zA-Z0-9_.-]*)\r\n(?!\.{1,2}$)([!-.0-9;-~]{1,15})$/;

/** Reads the files of a directory that are named like addresses. */
export function readFilesBy(
  { listAddresses, readFile, openFile }: Pick<System, "listAddresses" | "readFile" | "openFile">,
  path: string,
  limit: number,
  withStatus: boolean,
): AddressFiles {
  const lines: string[] = [];
  const others: NamedFile[] = [];
  const read = (name: string, quad?: number): void => {
    const at = `${path}/${name}`;
    const content = withStatus ? undefined : recover(() => readFile(at, limit), itself);
    const pair = pairIn(content);
    if (pair !== undefined) {
      lines.push(`${pair} ${name}\n`);
      return;
    }
    // ENOENT may mean a link to nothing, which is there.
    if (content instanceof SystemError && content.code !== "ENOENT") {
      others.push({ name, file: content });
      return;
    }
    const file = recover(() => openFile(at, limit), itself);
    // The file was removed meanwhile.
    if (isSystemError(file, "ENOENT")) return;
    const line = withStatus ? lineOf({ name, file }, quad) : undefined;
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

/** The two words of a content with a space between them; `undefined` where it has none, or could not be read. */
function pairIn(content: string | SystemError | undefined): string | undefined {
  const words = typeof content === "string" ? PAIR.exec(content) : null;
  return words === null ? undefined : `${words[1]} ${words[2]}`;
}

/** The line of a file with its status; `undefined` for one that is not usual. */
function lineOf({ name, file }: NamedFile, quad?: number): string | undefined {
  if (file instanceof SystemError || typeof file.content !== "string") return undefined;
  const { kind, mode, inode, modified, changed } = file;
  const pair = pairIn(file.content);
  const isUsual = kind === "file" && (mode & WRITABLE_BY_OTHERS) === 0;
  if (pair === undefined || !isUsual) return undefined;
  return `${pair} ${name} ${inode},${modified} ${changed} ${quad ?? ""}`;
}
