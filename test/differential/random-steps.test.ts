// test: each executable, one if short, portable in short, Go plugin, slow
/**
 * Takes the executable and the Go plugin through the same random steps, side by side: the same exit codes, results, errors
 * and files are expected after each.
 *
 * HOST_LOCAL_SEED repeats a run, HOST_LOCAL_STEPS sets its length; a long one needs a longer
 * time-out, too: TAP_TIMEOUT=9000 HOST_LOCAL_STEPS=100000 npm run node -- test/differential/random-steps.test.ts
 */

import { isDeepStrictEqual } from "node:util";
import { type Test, test } from "tap";
import { isPortable } from "../harness/executable.ts";
import { extent } from "../harness/extent.ts";
import { goPlugin } from "../harness/go-plugin.ts";
import { randomFrom } from "../harness/random.ts";
import { seed } from "../harness/seed.ts";
import { randomConfiguration } from "./random-configuration.ts";
import { randomStep } from "./random-step.ts";
import type { Step } from "./step.ts";
import { twoSides } from "./two-sides.ts";

const { HOST_LOCAL_STEPS } = process.env;
const steps = Number(HOST_LOCAL_STEPS ?? (extent === "short" || isPortable ? 150 : 1000));

/** How many steps share a pair of data directories. */
const LIFETIME = 50;

/** How many lives that differ are shown. */
const MOST_SHOWN = 5;

/** An older Go plugin prints other results, and gives other modes. */
const skip = goPlugin?.current === true ? false : "there is no Go plugin 1.9.1 to compare with";

test("the executable and the Go plugin agree after every step", { skip }, async (t) => {
  t.comment(`seed ${seed}: HOST_LOCAL_SEED=${seed} HOST_LOCAL_STEPS=${steps} repeats this run`);
  let different = 0;
  for (let life = 0; life * LIFETIME < steps && different < MOST_SHOWN; life++) {
    if (!(await live(t, life))) different++;
  }
  t.equal(different, 0);
});

/** Takes random steps on a fresh pair of directories until they differ or the life is over. */
async function live(t: Test, life: number): Promise<boolean> {
  const random = randomFrom(seed + 7919 * life);
  const sides = twoSides(t, goPlugin?.path ?? "");
  const networks = ["net", "other.net_2"].slice(random.integer(2));
  const configurations = networks.flatMap((name) =>
    Array.from({ length: 1 + random.integer(3) }, () => randomConfiguration(random, name)),
  );
  const past: Step[] = [];
  while (past.length < LIFETIME) {
    const step = randomStep({ random, configurations, tree: sides.tree() });
    past.push(step);
    const { here, reference } = await sides.take(step);
    if (!isDeepStrictEqual(here, reference)) {
      const steps = past.map((taken) => JSON.stringify(taken));
      return t.strictSame(here, reference, `life ${life}`, { steps });
    }
  }
  return true;
}
