// test: own process
/** Defects that there were once, and that no search of the plan would show. */

import { test } from "tap";
import { extent } from "../harness/extent.ts";
import { troubles } from "./plan.ts";
import { type Cast, cast, holding, networks, prepare, type Trouble } from "./scenes.ts";
import { story } from "./story.ts";

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
