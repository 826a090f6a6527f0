/** Tests run side by side, and whoever reads /proc finds the network namespaces of all of them. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { testFiles } from "../scripts/test/files.ts";
import { inRepository } from "./harness/repository.ts";

/** A call that makes a network namespace with an address; the prefix of its /24 is the group. */
const CONFIGURED = /\b(?:processWith|mountNamespace|run)\(.*?"(\d+\.\d+\.\d+\.)\d+\/\d+"/g;

test("the /24 of an address that a network namespace has is no other test's", async (t) => {
  const files = testFiles().map(({ path }) => ({
    path,
    text: readFileSync(inRepository(path), "utf8"),
  }));
  const configured = files.flatMap(({ path, text }) =>
    [...text.matchAll(CONFIGURED)].map(([, prefix = ""]) => ({ path, prefix })),
  );
  t.ok(configured.length > 0);
  for (const { path, prefix } of configured) {
    const others = files.filter((file) => file.path !== path && file.text.includes(`"${prefix}`));
    t.same(
      others.map((file) => file.path),
      [],
      `${prefix}0/24 of ${path}`,
    );
  }
});
