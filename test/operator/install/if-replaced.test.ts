// test: native executable
/** install --if-replaced: puts back what another installer has overwritten or removed, and nothing else. */

import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { executable } from "../../harness/executable.ts";
import {
  directoryWithOther,
  emptyDirectory,
  isExecutable,
  isLink,
  OTHER,
  ourVersion,
} from "./plugin-directory.ts";

for (const [options, name] of [
  [[], "host-local"],
  [["--as", "host-local-ts"], "host-local-ts"],
] as const) {
  test(`--if-replaced puts ${name} back only where another program replaced it`, async (t) => {
    const directory = emptyDirectory(t);
    const path = join(directory.path, name);
    const putBack = (): readonly unknown[] => {
      const [exitCode, stdout] = directory.install(...options, "--if-replaced", "--yes");
      return [exitCode, isExecutable(path), stdout === ""];
    };
    t.same(putBack(), [0, false, true], "it was never installed");
    directory.install(...options, "--yes");
    t.same(putBack(), [0, true, true], "it is installed");
    directory.put(name, OTHER);
    t.same(putBack(), [0, true, false], "it was replaced");
    rmSync(path);
    t.same(putBack(), [0, true, false], "it was removed");
    directory.install(...options, "--rollback", "--yes");
    t.same(putBack(), [0, false, true], "it was rolled back");
    directory.install(...options, "--uninstall", "--yes");
    t.same(putBack(), [0, false, true], "it was uninstalled");
  });
}

for (const [what, make, mode] of [
  ["has no loader", () => ourVersion("v9.0.0").replace("/bin/sh", "/none/sh"), 0o755],
  ["is not executable", () => readFileSync(executable), 0o644],
] as const) {
  test(`--if-replaced leaves a version of this program that ${what} here`, async (t) => {
    const directory = emptyDirectory(t);
    directory.put("host-local.installed", "");
    const content = make();
    writeFileSync(directory.target, content, { mode });

    const [exitCode, stdout] = directory.install("--if-replaced", "--yes");

    t.equal(exitCode, 0);
    t.equal(stdout, "");
    t.ok(readFileSync(directory.target).equals(Buffer.from(content)));
  });
}

for (const [what, make] of [
  ["another program that cannot be run", () => OTHER.replace("/bin/sh", "/none/sh")],
  [
    "another program that quotes it",
    () => `${OTHER}# With arguments it is a tool for operators: host-local\n`,
  ],
  ["this program with its end cut off", () => readFileSync(executable).subarray(0, 2_000_000)],
  ["this program with a damaged beginning", () => readFileSync(executable).fill(0, 0, 64)],
] as const) {
  test(`--if-replaced replaces ${what}`, async (t) => {
    const directory = emptyDirectory(t);
    directory.put("host-local.installed", "");
    writeFileSync(directory.target, make(), { mode: 0o755 });

    const [exitCode] = directory.install("--if-replaced", "--yes");

    t.equal(exitCode, 0);
    t.ok(isExecutable(directory.target));
  });
}

test("--if-replaced does nothing where an installation was not completed", async (t) => {
  const directory = directoryWithOther(t);
  directory.put("host-local.previous", OTHER);

  t.strictSame(directory.install("--if-replaced", "--yes"), [0, "", ""]);
  t.strictSame(directory.names, ["host-local", "host-local.previous"]);
});

test("--if-replaced puts back the copy static, too", async (t) => {
  const directory = emptyDirectory(t);
  directory.install("--static", "--yes");
  rmSync(join(directory.path, "static"));
  directory.put("static", OTHER);

  const [exitCode, stdout] = directory.install("--if-replaced", "--yes");

  t.equal(exitCode, 0);
  t.match(stdout, /^Installed .*static\./);
});

test("a marker that is a link is replaced by one, once the plugin is installed", async (t) => {
  const directory = emptyDirectory(t);
  const marker = `${directory.target}.installed`;
  symlinkSync("nowhere", marker);

  t.match(directory.install("--yes"), [0, "Installed "]);

  t.notOk(isLink(marker));
  rmSync(directory.target);
  t.match(directory.install("--if-replaced", "--yes"), [0, "Installed "]);
});
