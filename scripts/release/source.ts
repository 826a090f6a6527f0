/** The commit that is released. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";
import type { Source } from "./release.ts";

/**
 * Reads which commit this is, and when it was made: then, or as SOURCE_DATE_EPOCH says.
 *
 * @throws where this is not a clone of the repository, or files differ from the commit and that is not allowed
 */
export function readSource(allowChanges: boolean): Source {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const commit = command(["git", "rev-parse", "HEAD"]).trim();
  const changes = command(["git", "status", "--porcelain"]).trimEnd();
  if (changes !== "" && !allowChanges) {
    throw new Error(
      `a release is made of a commit, and these files differ from it (--allow-changes makes one all the same):\n${changes}`,
    );
  }
  const { SOURCE_DATE_EPOCH = command(["git", "show", "--no-patch", "--format=%ct", "HEAD"]) } =
    process.env;
  const time = Number(SOURCE_DATE_EPOCH);
  if (!Number.isSafeInteger(time) || time < 0) {
    throw new Error(`SOURCE_DATE_EPOCH: expected seconds since 1970, found ${SOURCE_DATE_EPOCH}`);
  }
  return { version, commit, time, modified: changes !== "" };
}

/**
 * Checks that a commit may be published: its changes are under its version in CHANGELOG.md, somebody answers for it, the
 * project has an address, and the version is of no other commit.
 *
 * @param directory the clone
 * @throws where it may not
 */
export function requireReleasable(
  { version, commit }: Pick<Source, "version" | "commit">,
  maintainer: string | undefined,
  directory: string = root,
): void {
  const changes = readFileSync(join(directory, "CHANGELOG.md"), "utf8");
  if (/^## \[Unreleased\]\s+(?!## )\S/m.test(changes)) {
    throw new Error(`CHANGELOG.md has changes under "Unreleased": put them under ${version}`);
  }
  if (!maintainer) {
    throw new Error(
      "somebody has to answer for the packages: --maintainer 'Jane Doe <jane@example.org>'",
    );
  }
  const { homepage, bugs, repository } = JSON.parse(
    readFileSync(join(directory, "package.json"), "utf8"),
  );
  if (/\/\/example\.org\//.test(JSON.stringify([homepage, bugs, repository]))) {
    throw new Error(
      "package.json has the example.org of a project without a home: change homepage, bugs and repository",
    );
  }
  const tag = [
    "git",
    "for-each-ref",
    "--format=%(objectname) %(*objectname)",
    `refs/tags/v${version}`,
  ];
  const tagged = command(tag, { directory }).trim();
  if (tagged !== "" && !tagged.split(" ").includes(commit)) {
    throw new Error(
      `the tag v${version} is on another commit than ${commit}: this is another version`,
    );
  }
}
