// test: own process
/** Whatever a loss of power leaves, DEL frees it, and every address can be handed out again, once. */

import { test } from "tap";
import { extent, isIn } from "../harness/extent.ts";
import { losses, worldsAfterLoss } from "./power-loss.ts";

for (const [calls, least] of losses) {
  if (!isIn(least, extent)) continue;
  test(`power is lost after ${calls}`, async (t) => {
    const { judge, worlds } = worldsAfterLoss(calls);

    const broken = worlds.map((world) => judge.afterPowerLoss(world).join("; "));

    t.ok(worlds.length > 1, `${worlds.length} disks`);
    t.equal(broken.find((text) => text !== "") ?? "", "");
  });
}
