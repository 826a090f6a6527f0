/** What is in the directory of a case on a real file system. */

import { symlinkSync, writeFileSync } from "node:fs";
import type { FileSystemCase } from "./file-system-cases.ts";

/** Makes the links and files of a case. */
export function putFiles(root: string, { links = {}, files = {} }: FileSystemCase): void {
  const at = (name: string): Buffer => Buffer.from(`${root}/${name}`, "latin1");
  for (const [name, target] of Object.entries(links)) {
    symlinkSync(Buffer.from(target, "latin1"), at(name));
  }
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(at(name), content, "latin1");
  }
}
