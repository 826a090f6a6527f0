/** This machine as package managers see it, of which nothing changes: what they write goes to memory. */

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { Mounts } from "../harness/mounts.ts";

/** What a program printed, on either stream, and how it ended. */
export interface Ended {
  readonly status: number | null;
  readonly said: string;
}

/** Runs a command that enters a machine. */
export function ended(...command: readonly string[]): Ended {
  const [program = "", ...words] = command;
  const { status, stdout, stderr } = spawnSync(program, words, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive", HOME: "/run" },
  });
  return { status, said: `${stdout}${stderr}` };
}

/** A mount namespace with overlays over the directories that packages have files in. */
export class Machine {
  readonly #mounts: Mounts;

  private constructor(mounts: Mounts) {
    this.#mounts = mounts;
  }

  /**
   * Makes one that ends with the test.
   *
   * @param usr how much can be written to /usr, as tmpfs has it
   */
  static async open(t: Pick<Test, "teardown">, usr = "100%"): Promise<Machine> {
    const mounts = await Mounts.open((action) => t.teardown(action));
    for (const directory of ["etc", "opt", "usr", "var"]) {
      mounts.memory(directory, `size=${directory === "usr" ? usr : "100%"}`);
      const layers = ["upper", "work"].map((layer) => join(directory, layer));
      for (const layer of layers) mkdirSync(mounts.at(layer));
      const [upper = "", work = ""] = layers.map((layer) => mounts.within(layer));
      const options = `lowerdir=/${directory},upperdir=${upper},workdir=${work}`;
      mounts.run(["mount", "-t", "overlay", "overlay", "-o", options, `/${directory}`]);
    }
    // Programs find no systemd to talk to.
    mounts.run(["mount", "-t", "tmpfs", "tmpfs", "/run"]);
    return new Machine(mounts);
  }

  /** Runs a program there. */
  run(...words: readonly string[]): Ended {
    return ended(...this.#mounts.entry, ...words);
  }

  /** The path at which this process finds a file of that machine. */
  at(path: string): string {
    const [, process = ""] = /^(\/proc\/\d+\/root)\//.exec(this.#mounts.at("/")) ?? [];
    return join(process, path);
  }
}
