/** The directory of `npm run test:kubernetes -- --binaries DIR`. */

import { test } from "tap";
import { obstacleOfPrograms } from "./programs.ts";

const expected =
  "expected a directory with kube-apiserver, kube-controller-manager, kube-scheduler and kubelet of Kubernetes 1.33 or later, as upstream's server archive has them";

test("what the directory has to have is said where there is none", async (t) => {
  t.equal(obstacleOfPrograms(""), `--binaries or HOST_LOCAL_KUBERNETES: ${expected}.`);
  t.equal(obstacleOfPrograms("/none"), `/none: ${expected}; found no kube-apiserver.`);
});
