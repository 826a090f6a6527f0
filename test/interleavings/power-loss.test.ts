// test: own process
/** Whatever a loss of power leaves, DEL frees it, and every address can be handed out again, once. */

import { test } from "tap";
import { extent } from "../harness/extent.ts";
import { fileSystems, losses, worldsAfterLoss } from "./power-loss.ts";

for (const loss of losses) {
  if (extent === "short" && loss.extent !== "short") continue;
  for (const fileSystem of fileSystems) {
    test(`power is lost after ${loss.name}, on ${fileSystem}`, async (t) => {
      const { judge, worlds } = worldsAfterLoss(loss, fileSystem);

      const broken = worlds.map((world) => judge.afterPowerLoss(world).join("; "));

      t.ok(worlds.length > 1, `${worlds.length} disks`);
      t.equal(broken.find((text) => text !== "") ?? "", "");
    });
  }
}
