import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { test } from "tap";
import { shellWord } from "../../../src/cli/output/shell-word.ts";
import { seed } from "../../harness/seed.ts";

test("a word for a shell is that word, whatever it holds", async (t) => {
  t.equal(shellWord("node-1"), "node-1");
  t.equal(shellWord("a; touch x"), "'a; touch x'");
  t.equal(shellWord("it's"), "'it'\\''s'");
  t.equal(shellWord(""), "''");
  const words = fc.array(
    fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("$(id)", "`", "~", "=a")),
    {
      maxLength: 50,
    },
  );
  fc.assert(
    fc.property(words, (all) => {
      const usable = all.map((word) => word.replaceAll("\0", ""));
      const script = `printf '%s\\0' ${["", ...usable].map(shellWord).join(" ")}`;
      const { stdout } = spawnSync("/bin/sh", ["-c", script], { encoding: "utf8" });
      t.strictSame(stdout.split("\0").slice(0, -1), ["", ...usable]);
    }),
    { numRuns: 20, seed },
  );
});
