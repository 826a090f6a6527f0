// test: release
/** The glibc source of each executable, which the LGPL requires, is available as docs/releasing.md says. */

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { archives, fileOf } from "./release.ts";

test("Debian has the source of the glibc of each architecture", async (t) => {
  const [, script = ""] =
    /(scripts\/fetch\/glibc-source\.sh)/.exec(readFileSync("docs/releasing.md", "utf8")) ?? [];
  const directory = scratchDirectory(t);
  const sboms = archives.map(({ name }) => name.replace(/\.tgz$/, ".cdx.json"));
  for (const name of sboms) copyFileSync(fileOf(name), join(directory, name));

  const { status, stdout, stderr } = spawnSync("bash", [script, directory, "--dsc-only"], {
    encoding: "utf8",
  });

  // A mirror may have a new index before it has the files.
  const [, unserved = ""] =
    /could not fetch the source of glibc (.+), which the index/.exec(stderr) ?? [];
  t.equal(status, unserved === "" ? 0 : 1, `${stdout}${stderr}`);
  t.notMatch(stderr, "any more");
  for (const { name, isPortable, architecture } of archives) {
    if (isPortable) continue;
    const sbom = readFileSync(fileOf(name.replace(/\.tgz$/, ".cdx.json")), "utf8");
    const [, encoded = "", of] =
      /"pkg:deb\/debian\/libc6-dev@([^?]+)\?arch=([^"&]+)/.exec(sbom) ?? [];
    const version = decodeURIComponent(encoded);
    t.equal(of, architecture.debian, `${name} has the library of its architecture itself`);
    const isUnserved = unserved.split(" ").includes(version);
    t.ok(existsSync(join(directory, `glibc_${version}.dsc`)), `${architecture.name}: ${version}`, {
      skip: isUnserved && "the mirror does not serve it now",
    });
  }
});
