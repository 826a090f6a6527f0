// test: release
/** `npm run release -- --check` finds what is wrong with packages and the image, whatever their sums are. */

import {
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import type { Architecture } from "../../scripts/build/architecture.ts";
import {
  checkPackages,
  checkPackagesFor,
  type PackagedRelease,
} from "../../scripts/release/check-packages.ts";
import { debName, writeDeb } from "../../scripts/release/deb.ts";
import { imageName } from "../../scripts/release/image.ts";
import { Problems } from "../../scripts/release/problems.ts";
import { rpmName } from "../../scripts/release/rpm.ts";
import { sysextName } from "../../scripts/release/sysext.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import {
  archives,
  fileOf,
  foreign,
  noForeign,
  ownArchive,
  packageOfVersion,
  release,
  truncated,
  version,
} from "./release.ts";

const { architecture } = ownArchive;
const image = imageName({ version });

/** A release with one file replaced, or removed. */
function releaseWith(t: Test, name: string, replacement: string | undefined): PackagedRelease {
  const directory = scratchDirectory(t);
  for (const file of readdirSync(release)) symlinkSync(fileOf(file), join(directory, file));
  rmSync(join(directory, name));
  if (replacement !== undefined) copyFileSync(replacement, join(directory, name));
  const natives = archives.filter(({ isPortable }) => !isPortable);
  return { directory, version, architectures: natives.map((archive) => archive.architecture) };
}

/** The problems of the packages for this machine then. */
function problemsWith(t: Test, name: string, replacement: string | undefined): readonly string[] {
  const problems = new Problems();
  checkPackagesFor(problems, releaseWith(t, name, replacement), architecture);
  return problems.found;
}

/** What a kind of package says of a damaged one. */
const kinds: readonly [typeof debName, RegExp][] = [
  [debName, /: dpkg-deb ended with/],
  [rpmName, /: rpm ended with/],
  [sysextName, /: unsquashfs ended with/],
];

for (const [nameFor, damaged] of kinds) {
  const name = nameFor({ version }, architecture);
  /** The only problem is about this file. */
  const expectOnly = (t: Test, found: readonly string[], expected: RegExp) => {
    t.equal(found.length, 1, found.join("\n"));
    t.ok(found[0]?.startsWith(`${name}: `));
    t.match(found[0], expected);
  };

  test(`${name} is damaged, for another architecture, or missing`, { skip: noForeign }, (t) => {
    const of = (other: Architecture) => fileOf(nameFor({ version }, other));
    expectOnly(t, problemsWith(t, name, truncated(t, name)), damaged);
    expectOnly(
      t,
      problemsWith(t, name, of(foreign())),
      /: wrong architecture: expected \S+, found/,
    );
    expectOnly(t, problemsWith(t, name, undefined), /: it is missing/);
    t.end();
  });
}

test("a package has another executable than the archive", (t) => {
  const input = packageOfVersion(t, version);
  const files = input.files.map((file) =>
    file.name === "host-local" ? ({ name: file.name, mode: 0o755, text: "other" } as const) : file,
  );
  const name = debName({ version }, architecture);
  t.match(
    problemsWith(t, name, writeDeb({ ...input, files })).join("\n"),
    `${name}: usr/lib/cni/host-local is another file than expected`,
  );
  t.end();
});

test("the image is damaged", (t) => {
  const damaged = join(scratchDirectory(t), image);
  const content = readFileSync(fileOf(image));
  content.fill(0, content.length / 2, content.length / 2 + 100);
  writeFileSync(damaged, content);
  const problems = new Problems();
  checkPackages(problems, releaseWith(t, image, damaged));
  t.match(
    problems.found.join("\n"),
    new RegExp(`^${image}: blobs/sha256/[0-9a-f]{64} is another file than expected`),
  );
  t.end();
});
