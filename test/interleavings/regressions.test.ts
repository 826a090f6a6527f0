// test: own process
/** Defects that there were once, and that no search of the plan would show. */

import { test } from "tap";
import { isSystemError, SystemError } from "../../src/system/system.ts";
import { extent } from "../harness/extent.ts";
import { Calls } from "./calls.ts";
import { troubles } from "./plan.ts";
import { programsWith } from "./plugin-with.ts";
import { runAnswered } from "./process.ts";
import { reservationsIn } from "./rules.ts";
import {
  type Cast,
  cast,
  graves,
  holding,
  NO_TROUBLE,
  networks,
  prepare,
  type Trouble,
} from "./scenes.ts";
import { story } from "./story.ts";
import { clockIn, type Operation, type Reply } from "./world.ts";

const { same, dual } = networks;

const defects: readonly (readonly [name: string, cast: Cast, trouble: Trouble])[] = [
  [
    "after a boot the address of a container that a repeated ADD was told is handed out",
    cast(["ADD c, ADD b"], { ...same, before: holding("c", "d", "e"), hasBooted: true }),
    troubles.errors,
  ],
  [
    "a journal that misses half of a container is believed after the lock file was removed",
    cast(["ADD a", "DEL a"], dual),
    { faults: ["no lock file"] },
  ],
];

for (const [name, these, trouble] of defects) {
  // The last one has a million states.
  if (extent === "short" && trouble.faults.includes("no lock file")) continue;
  test(`no schedule shows that ${name}`, async (t) => {
    const { search, judge } = prepare(these, trouble);

    const found = search.run(judge.judge);

    t.equal(found === undefined ? "" : `${found.broken.join("\n")}\n${story(found.steps)}`, "");
  });
}

test("gc keeps what has the network namespace of its record, though its file cannot be looked at", async (t) => {
  const { search, calls } = prepare(cast(["gc --live c"], graves.gone), NO_TROUBLE);
  const { start } = search.scene;
  const path = calls.namespaceOf("e").replace("-new", "");
  const answer = ({ word, path: asked, run }: Operation): Reply => {
    if (word === "stat" && asked === path) return { error: new SystemError(word, path, "EIO") };
    try {
      return { value: run(start) };
    } catch (error) {
      if (isSystemError(error)) return { error };
      throw error;
    }
  };

  const { end } = runAnswered(calls.collect("c"), 100, clockIn(start), answer);

  t.match(end?.stdout, `its network namespace ${path} exists`);
  t.same([...reservationsIn(start).keys()], ["10.0.0.2", "10.0.0.4"]);
});

/** The journal cannot tell one container from another: then a call reads what it needs. */
const allAlike = {
  file: "store/reservations/owner.ts",
  from: "return length > 16 ? 8 : length >> 1 || 1;",
  to: "return 0 * length;",
};

for (const these of [
  cast(["ADD a", "DEL c"]),
  cast(["DEL c, ADD c", "DEL a"]),
  cast(["ADD a", "GC a"]),
  cast(["ADD b"], graves.gone),
  cast(["DEL c", "Go DEL c"]),
]) {
  test(`no schedule breaks a rule where all ids end alike: ${these.name}`, async (t) => {
    const programs = await programsWith(allAlike);
    const calls = new Calls(these.ipam, these.pools, programs);
    const before = () => these.before?.(calls) ?? [calls.add("c")];
    const { search, judge } = prepare({ ...these, before }, troubles.stops, programs);

    const found = search.run(judge.judge);

    t.equal(found === undefined ? "" : `${found.broken.join("\n")}\n${story(found.steps)}`, "");
  });
}
