/** `System.readFiles` by one call a file. */

import {
  type Files,
  isSystemError,
  itself,
  type OtherFile,
  recover,
  type System,
} from "./system.ts";

/** Two words with CR LF between them, see `Files`. */
const PAIR = /^([a-zA-Z0-9][a-zA-Z0-9_.-]*)\r\n(?!\.{1,2}$)([!-.0-9;-~]{1,15})$/;

/** The two words of a content, with a space between them; `undefined` for any other. */
export function wordsOf(content: string): string | undefined {
  const words = PAIR.exec(content);
  return words === null ? undefined : `${words[1]} ${words[2]}`;
}

/** Whether a name has only the characters of addresses. */
export function isAddressLike(name: string): boolean {
  return /^[0-9a-fA-F.:]*$/.test(name);
}

/** Reads every file of a directory; one that was removed meanwhile is left out. */
export function readFilesBy(
  { list, readFile }: Pick<System, "list" | "readFile">,
  path: string,
  limit: number,
): Files {
  const pairs: string[] = [];
  const others: OtherFile[] = [];
  for (const name of list(path)) {
    const content = recover(() => readFile(`${path}/${name}`, limit), itself);
    if (isSystemError(content, "ENOENT")) continue;
    const words = typeof content === "string" ? wordsOf(content) : undefined;
    if (words === undefined || !isAddressLike(name)) others.push({ name, content });
    else pairs.push(`${words} ${name}\n`);
  }
  return { pairs: pairs.join(""), count: pairs.length, others };
}
