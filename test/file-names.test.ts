// test: own process
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "tap";
import { inRepository } from "./harness/repository.ts";

const skip = existsSync(inRepository(".git")) ? false : "This is not a checkout of the repository.";

test("names of tracked files are printable, without blanks", { skip }, async (t) => {
  const { stdout } = spawnSync("git", ["ls-files", "-z"], {
    cwd: inRepository("."),
    encoding: "utf8",
  });
  const names = stdout.split("\0").slice(0, -1);
  t.ok(names.includes("README.md"));
  t.same(
    names.filter((name) => !/^[!-~]+$/.test(name)),
    [],
  );
});
