// test: own process
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { requireNewer } from "./build-age.ts";

test("requireNewer refuses an executable that is older than its source, with the command to run", async (t) => {
  const directory = t.testdir({ "host-local": "", "a.ts": "", "b.ts": "" });
  const [executable, ...sources] = ["host-local", "a.ts", "b.ts"].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  const [older, newer] = sources;
  utimesSync(older, 100, 100);
  utimesSync(newer, 300, 300);

  utimesSync(executable, 200, 200);
  const refusal = new Error(`${executable} is older than ${newer}: run npm run build`);
  t.throws(() => requireNewer(executable, sources, "npm run build"), refusal);

  utimesSync(executable, 400, 400);
  t.doesNotThrow(() => requireNewer(executable, sources, "npm run build"));
});

test("requireNewer refuses an executable that was not built", async (t) => {
  const path = join(t.testdir(), "host-local");
  t.throws(() => requireNewer(path, [], "npm run build"), { message: /run npm run build$/ });
});
