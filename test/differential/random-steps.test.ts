// test: each executable, one if short, Go plugin, slow
/**
 * Takes the executable and the Go plugin through the same random steps, side by side: the same
 * exit codes, results, errors and files are expected after each.
 *
 * HOST_LOCAL_SEED repeats a run, HOST_LOCAL_STEPS sets its length; a long one needs a longer
 * time-out, too: TAP_TIMEOUT=9000 HOST_LOCAL_STEPS=100000 npm run node -- test/differential/random-steps.test.ts
 */

import { isDeepStrictEqual } from "node:util";
import { type Test, test } from "tap";
import { isPortable } from "../harness/executable.ts";
import { extent } from "../harness/extent.ts";
import { type GoPlugin, goPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { randomFrom } from "../harness/random.ts";
import { randomConfiguration } from "./random-configuration.ts";
import { randomStep } from "./random-step.ts";
import type { Step } from "./step.ts";
import { type Sight, twoSides } from "./two-sides.ts";

const { HOST_LOCAL_SEED, HOST_LOCAL_STEPS } = process.env;
/** Fixed, so that one commit has one outcome; the variable explores others. */
const seed = Number(HOST_LOCAL_SEED ?? 20261121);
const steps = Number(HOST_LOCAL_STEPS ?? (extent === "short" || isPortable ? 150 : 1000));

/** How many steps share a pair of data directories. */
const lifetime = 50;

/** How many differences are shown in full. */
const shown = 5;

interface Finding {
  readonly liveness: number;
  readonly steps: readonly Step[];
  readonly sight: Sight;
}

test("the executable and the Go plugin agree after every step", {
  skip: skipWithoutGoPlugin,
}, async (t) => {
  if (goPlugin === undefined) {
    return;
  }
  t.comment(`seed ${seed}: HOST_LOCAL_SEED=${seed} HOST_LOCAL_STEPS=${steps} repeats this run`);
  let differences = 0;
  let taken = 0;
  for (let liveness = 0; taken < steps; liveness++) {
    const { count, finding } = await live(t, goPlugin, liveness, Math.min(lifetime, steps - taken));
    taken += count;
    if (finding !== undefined) {
      differences += 1;
      if (differences <= shown) {
        t.strictSame(finding.sight.here, finding.sight.reference, `life ${liveness}`, {
          steps: finding.steps.map((step) => JSON.stringify(step)),
        });
      }
    }
  }
  t.comment(`${taken} steps, ${differences} differences from Go ${goPlugin.versions.at(-1)}`);
  t.equal(differences, 0);
});

/** Takes random steps on a fresh pair of directories until they differ or the life is over. */
async function live(
  t: Test,
  plugin: GoPlugin,
  liveness: number,
  length: number,
): Promise<{ count: number; finding: Finding | undefined }> {
  const random = randomFrom(seed + 7919 * liveness);
  const sides = twoSides(t, plugin);
  const networks = ["net", "other.net_2"].slice(random.integer(2));
  const configurations = networks.flatMap((name) =>
    Array.from({ length: 1 + random.integer(3) }, () => randomConfiguration(random, plugin, name)),
  );
  const past: Step[] = [];
  while (past.length < length) {
    const step = randomStep({ random, plugin, configurations, tree: sides.tree() });
    past.push(step);
    const sight = await sides.take(step);
    if (!isDeepStrictEqual(sight.here, sight.reference)) {
      return { count: past.length, finding: { liveness, steps: past, sight } };
    }
  }
  return { count: past.length, finding: undefined };
}
