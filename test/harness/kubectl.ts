/** kubectl, as tests use it without a cluster. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { inRepository } from "./repository.ts";

const fetched = inRepository("build/kubectl");

/** The kubectl that `npm run fetch -- kubectl` fetched, or else this machine's own. */
export const kubectl: string = existsSync(fetched) ? fetched : "kubectl";

/** Why a test that uses kubectl is skipped, or `false`. */
export const skipWithoutKubectl: string | false =
  spawnSync(kubectl, ["version", "--client"]).status === 0
    ? false
    : "There is no kubectl here; `npm run fetch -- kubectl` fetches one.";
