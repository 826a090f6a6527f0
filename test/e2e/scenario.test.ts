// test: own process
/** Scenarios stay inside their namespaces. */

import { spawnSync } from "node:child_process";
import { test } from "tap";

test("a scenario does not run on the machine itself if its variable is left in the shell", async (t) => {
  const { status, stderr } = spawnSync(process.execPath, ["test/e2e/two-pods.test.ts"], {
    env: { ...process.env, HOST_LOCAL_E2E_SCENARIO: "a scenario of another file" },
    encoding: "utf8",
  });
  t.equal(status, 1);
  t.match(stderr, "HOST_LOCAL_E2E_SCENARIO is set outside of a scenario");
});
