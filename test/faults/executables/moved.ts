/** A data directory that another machine has written, or this one before its start. */

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { Mounts } from "../../harness/mounts.ts";
import { fileSystemObstacle, fileSystems, makeImage } from "./file-systems.ts";
import { FaultNetwork, oneRange } from "./network.ts";
import { mustHaveRoom } from "./room.ts";
import { type Case, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** A way for a data directory to come to a machine. */
interface Way extends Case {
  /** Where the first machine has it, and the second one; `move` brings it there. */
  readonly prepare: (
    first: Mounts,
    second: Mounts,
    scratch: string,
  ) => { readonly from: string; readonly move: () => string };
}

/** By a command of the shell, of which `$1` is the first directory, and `$2` the second. */
function byShell(what: string, script: string): Way {
  return {
    what,
    prepare: (_first, _second, scratch) => {
      const from = join(scratch, "first");
      const to = join(scratch, "second");
      for (const directory of [from, to]) mkdirSync(directory);
      const move = (): string => {
        execFileSync("sh", ["-ec", script, "sh", from, to]);
        return to;
      };
      return { from, move };
    },
  };
}

const ways: readonly Way[] = [
  {
    what: "as the image of a disk, with every inode and time",
    prepare: (first, second, scratch) => {
      const image = join(scratch, "image");
      makeImage(image, fileSystems.ext4);
      const from = first.image("disk", image);
      const move = (): string => {
        first.unmount("disk");
        copyFileSync(image, `${image}.copy`);
        return second.image("disk", `${image}.copy`);
      };
      return { from, move };
    },
  },
  byShell("by cp, with its times", 'cp -a "$1/." "$2"'),
  byShell("by tar, with its times", 'tar -C "$1" --format=posix -cf - . | tar -C "$2" -xpf -'),
  {
    what: "not at all: it was there before the start of the machine",
    prepare: (_first, _second, scratch) => ({ from: scratch, move: () => scratch }),
  },
];

async function attempt(trial: Trial, { prepare }: Way): Promise<void> {
  const first = await Mounts.open(trial.teardown);
  const second = await Mounts.openAfterBoot(trial.teardown);
  const { from, move } = prepare(first, second, scratchDirectory(trial));
  const before = new FaultNetwork(trial, { ipam: oneRange, directory: from });
  const containerIds = ["c0", "c1", "c2"];
  for (const id of containerIds) await before.mustWork("ADD", id);
  await before.mustRelease("c0", "c1");

  const directory = move();
  const after = new FaultNetwork(trial, { ipam: oneRange, directory, under: second.entry });
  // Overwritten in place: the network's directory does not show it, only that the machine has started meanwhile.
  writeFileSync(after.path("10.0.0.4"), "c0\r\neth0");
  await mustHaveRoom(after, containerIds);
}

export const movedScenarios: readonly Scenario[] = [
  {
    fault: "the data directory comes from another machine, or from before the machine's start",
    promise: "DEL frees all; every address can be handed out again, once",
    obstacle: () => fileSystemObstacle(fileSystems.ext4),
    attempt: eachOf(ways, attempt, { atOnce: 4 }),
  },
];
