/** The files of conf-examples/, loaded as libcni and containerd load them. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { inRepository } from "../harness/repository.ts";
import { renderContainerdTemplate } from "./containerd-template.ts";
import { type Network, readNetwork } from "./libcni.ts";

const directory = inRepository("conf-examples");

/** The names of all files but the README, in order. */
export const allFiles: readonly string[] = readdirSync(directory, { recursive: true })
  .map(String)
  .filter((file) => file !== "README.md" && statSync(join(directory, file)).isFile())
  .sort();

/** The names of all network configurations, in order; the others are for the operator's tool. */
export const exampleFiles: readonly string[] = allFiles.filter((file) =>
  /\.(conf|conflist|template)$/.test(file),
);

/**
 * Reads the text of a file of conf-examples/.
 *
 * @param file the file's name
 */
export function readExample(file: string): string {
  return readFileSync(join(directory, file), "utf8");
}

/**
 * Loads an example; a template is rendered for a dual-stack node first.
 *
 * @param file the file's name
 */
export function loadExample(file: string): Network {
  const text = readExample(file);
  const isTemplate = file.endsWith(".template");
  const podCIDRs = ["10.244.3.0/24", "fd00:10:244:3::/64"];
  return readNetwork(isTemplate ? renderContainerdTemplate(text, podCIDRs) : text);
}
