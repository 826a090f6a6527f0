/** Power is lost: the disk is mounted again in its state of that moment, by the same machine after its start. */

import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { Mounts } from "../../harness/mounts.ts";
import { lacking } from "../../harness/needs.ts";
import { randomFrom } from "../../harness/random.ts";
import { sample } from "../../harness/sample.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { age, OLD } from "./corrupt-file.ts";
import {
  type FileSystem,
  fileSystemObstacle,
  fileSystems,
  makeImage,
  mendImage,
} from "./file-systems.ts";
import { FaultNetwork, oneRange, ROOM } from "./network.ts";
import { allOf, type Case, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** The attachments before the loss. */
const early = ["c0", "c1", "c2", "c3", "c4"];

/**
 * A pause longer than a commit interval of ext4, and shorter than the time after which dirty pages are written, in
 * milliseconds.
 */
const QUIET = 7_000;

/** How often a copy is taken under load until one can be mounted: unlike after a power loss, it is not of one moment. */
const MOST_COPIES = 10;

/** How many calls run at once under load. */
const LOADERS = 4;

/** The events until the power is lost. */
interface Before extends Case {
  /** Makes them happen, and returns the containers that were attached at any time. */
  readonly happen: (network: FaultNetwork, copy: () => void) => Promise<readonly string[]>;
}

const own = ".host-local/net";
const names = ["net", own, ".host-local", "."];
const journal = `${own}/journal`;

/** Syncs some files or directories, with everything that belongs to them, and nothing else. */
function store(network: FaultNetwork, stored: readonly string[]): void {
  for (const path of stored.map((name) => join(network.directory, name))) {
    if (!existsSync(path)) continue;
    const file = openSync(path, "r");
    fsyncSync(file);
    closeSync(file);
  }
}

function storeAll(network: FaultNetwork): void {
  store(network, [...names, ...network.reserved().map((name) => `net/${name}`), journal]);
}

/** Five ADDs, followed by `then`, after which the copy is taken. */
function added(what: string, then: (network: FaultNetwork) => unknown): Before {
  return {
    what,
    happen: async (network, copy) => {
      for (const id of early) await network.do("ADD", id);
      await then(network);
      copy();
      return [...early, "c5"];
    },
  };
}

/** A state in which five ADDs are stored wholly, and only this part of the later changes. */
function changed(what: string, ...stored: readonly string[]): Before {
  return added(what, async (network) => {
    storeAll(network);
    for (const id of early.slice(0, 2)) await network.do("DEL", id);
    for (const id of ["c0", "c5"]) await network.do("ADD", id);
    store(network, stored);
  });
}

const losses: readonly Before[] = [
  added(
    "the names of five reservations are stored, and the journal, and not their contents",
    (network) => store(network, [...names, journal]),
  ),
  changed("the names of changes are stored, and the journal", ...names, journal),
  added("everything is stored", storeAll),
  added("the names are stored, and nothing else", (network) => store(network, names)),
  added("the journal is stored, and nothing else", (network) => store(network, [journal])),
  added("nothing is stored", () => {}),
  added("one reservation is stored", (network) => store(network, [...names, "net/198.51.100.3"])),
  changed("of changes the journal is stored", journal),
  changed("of changes nothing is stored"),
  added("five ADDs, and 7 s of quiet", () => pause(QUIET)),
];

/** Calls come in all the time; the copy is taken while some of them run. */
function load(seed: number): Before {
  return {
    what: "under load",
    happen: async (network, copy) => {
      const random = randomFrom(seed);
      const containerIds = new Set<string>();
      const calls = network.subject.name === "portable" ? 20 : 200;
      let ended = 0;
      await sideBySide([...Array(calls + LOADERS).keys()], LOADERS, async (at) => {
        const id = `w${at % LOADERS}-${random.integer(3)}`;
        containerIds.add(id);
        await network.do(random.integer(2) === 0 ? "ADD" : "DEL", id);
        if (++ended === calls) copy();
      });
      return [...containerIds];
    },
  };
}

/** The ways to continue: the machine starts again, or only the disk was away. */
const restarts = ["a start of the machine", "the disk is attached again"] as const;

interface Loss extends Case {
  readonly before: Before;
  readonly restart: (typeof restarts)[number];
}

async function lose(trial: Trial, fileSystem: FileSystem, loss: Loss): Promise<void> {
  const { teardown } = trial;
  const { before, restart } = loss;
  const scratch = scratchDirectory(trial);
  const image = join(scratch, "image");
  const copy = join(scratch, "copy");
  makeImage(image, fileSystem);
  const mounts = await Mounts.open(teardown);
  const network = new FaultNetwork(trial, {
    ipam: oneRange,
    directory: mounts.image("disk", image),
  });
  // An empty disk is stored before the changes.
  mounts.run(["sync", "--file-system", mounts.within("disk")]);

  const isStarted = restart === "a start of the machine";
  const after = await (isStarted ? Mounts.openAfterBoot(teardown) : Mounts.open(teardown));
  const containerIds = await before.happen(network, () => takeCopy(image, copy, fileSystem));
  mounts.unmount("disk");
  const directory = after.image("disk", copy);
  const later = new FaultNetwork(trial, { ipam: oneRange, directory, under: after.entry });
  await mustHaveRoom(later, containerIds);
  after.unmount("disk");
}

/**
 * Requires that every attachment can be deleted, that then every address can be had once, and that STATUS knows whether one is
 * left.
 */
async function mustHaveRoom(network: FaultNetwork, containerIds: readonly string[]): Promise<void> {
  await network.mustRelease(...containerIds);
  // Blank files get ten seconds older: then they may be reused.
  for (const path of network.reserved().map((name) => network.path(name))) {
    const isBlank = lstatSync(path).isFile() && /^[\0\s]*$/.test(readFileSync(path, "latin1"));
    if (isBlank) age(path, OLD);
  }
  const late = await network.fill("late", ROOM);
  // The Go plugin's GC does nothing, and ours does nothing if it does not see what lives.
  const isIdle = network.subject.name === "Go" || lacking("sees the node") !== false;
  if (isIdle) await network.mustRelease(...late.keys());
  else await network.mustCollect();
  network.mustBeEmpty();
  await network.mustTell("room");
}

/** Takes a copy of the disk; under load it may be of two moments, and beyond repair. */
function takeCopy(image: string, copy: string, fileSystem: FileSystem): void {
  for (let tries = 1; ; tries++) {
    copyFileSync(image, copy);
    try {
      mendImage(copy, fileSystem);
      return;
    } catch (error) {
      if (tries >= MOST_COPIES) throw error;
    }
  }
}

/**
 * The losses to try: all in an exhaustive run; half of them in a full run, or an eighth with the slow portable executable; in a
 * short run one case in which a part is stored.
 */
function cases({ extent, subject, seed }: Context): readonly Loss[] {
  const all = extent === "short" ? losses.slice(0, 2) : [...losses, load(seed)];
  const each = restarts.flatMap((restart) =>
    all.map((before) => ({ before, restart, what: `${before.what}; then ${restart}` })),
  );
  if (extent === "exhaustive") return each;
  return sample(each, subject.name === "portable" ? 8 : extent === "short" ? 4 : 2, seed);
}

export const powerLossScenarios: readonly Scenario[] = [
  fileSystems.ext4,
  fileSystems.ext4WithoutJournal,
  fileSystems.ext2,
  fileSystems.xfs,
  fileSystems.btrfs,
].map((fileSystem) => ({
  fault: `power lost on ${fileSystem.name}, after changes that are stored in part, and under load`,
  promise: "DEL frees all. Every address can be handed out again, once",
  obstacle: () => fileSystemObstacle(fileSystem),
  attempt: eachOf(cases, (trial, loss) => lose(trial, fileSystem, loss), {
    atOnce: 4,
    some: allOf,
  }),
}));
