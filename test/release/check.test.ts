/** `npm run release -- --check` finds what is wrong with a release, and says in which file. */

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Test, test } from "tap";
import { architectureNamed, ownArchitecture } from "../../scripts/release/architecture.ts";
import { checkRelease } from "../../scripts/release/check.ts";
import { checksum } from "../../scripts/release/checksum.ts";
import { makeRelease } from "../../scripts/release.ts";
import { scratchDirectory } from "../blackbox/data-directory.ts";
import { ownArchive, release } from "./release.ts";

const { name } = ownArchive;
const base = name.replace(/\.tgz$/, "");

/** The native executables for this machine and one other. */
const own = ownArchitecture();
const other = architectureNamed(own.name === "386" ? "amd64" : "386");
const small = join(mkdtempSync(join(tmpdir(), "host-local-release-")), "release");
await makeRelease({
  variants: [own, other].map((architecture) => ({ flavour: "native", architecture })),
  output: small,
  builder: "urn:test:builder",
  allowChanges: true,
});
process.once("exit", () => rmSync(dirname(small), { recursive: true }));

/** A copy of it, to be damaged. */
function copyOfRelease(t: Pick<Test, "teardown">): string {
  const copy = join(scratchDirectory(t), "release");
  cpSync(small, copy, { recursive: true });
  return copy;
}

test("a release is complete", (t) => {
  t.strictSame(checkRelease(release), []);
  t.end();
});

/** What is done to a file of the release, and what is said of it. */
const damages: readonly [string, (directory: string) => void, RegExp][] = [
  [
    "a truncated archive",
    (directory) => truncateSync(join(directory, name), 100_000),
    new RegExp(
      `^${name}: it is damaged or was replaced: expected SHA-256 [0-9a-f]{64}, found`,
      "m",
    ),
  ],
  [
    "a truncated archive whose sums were made anew",
    (directory) => {
      truncateSync(join(directory, name), 100_000);
      renewSums(directory, name);
    },
    new RegExp(`^${name}: tar ended with 2: .*unexpected end of file`, "ms"),
  ],
  [
    "an archive that is missing",
    (directory) => rmSync(join(directory, name)),
    new RegExp(`^${name}: SHA256SUMS lists it, but it is missing$`, "m"),
  ],
  [
    "a file that nobody lists",
    (directory) => writeFileSync(join(directory, "surprise.tgz"), ""),
    /^surprise\.tgz: SHA256SUMS does not list it$/m,
  ],
  [
    "a sum of another file",
    (directory) =>
      writeFileSync(join(directory, `${name}.sha512`), `${"0".repeat(128)}  ${name}\n`),
    new RegExp(`^${name}.sha512: it has another sum than ${name}$`, "m"),
  ],
  [
    "an SBOM of another archive",
    (directory) =>
      edit(
        join(directory, `${base}.spdx.json`),
        checksum("sha256", join(small, name)),
        "0".repeat(64),
      ),
    new RegExp(`^${base}.spdx.json: it describes another archive$`, "m"),
  ],
  [
    "an SBOM that does not name what is linked in",
    (directory) => edit(join(directory, `${base}.cdx.json`), '"name": "glibc"', '"name": "musl"'),
    new RegExp(`^${base}.cdx.json: it names .*musl.*, but THIRD-PARTY-NOTICES .*glibc`, "m"),
  ],
  [
    "a list of sums that is none",
    (directory) => writeFileSync(join(directory, "SHA256SUMS"), "<html>\n"),
    /SHA256SUMS is no list of checksums: "<html>"$/m,
  ],
];

for (const [damage, apply, expected] of damages) {
  test(`it finds ${damage}`, (t) => {
    const directory = copyOfRelease(t);
    apply(directory);
    t.match(checkRelease(directory).join("\n"), expected);
    t.end();
  });
}

test("it finds an executable of another architecture", (t) => {
  const directory = copyOfRelease(t);
  const foreign = name.replace(`linux-${own.name}-`, `linux-${other.name}-`);
  copyFileSync(join(directory, foreign), join(directory, name));
  renewSums(directory, name);
  t.match(
    checkRelease(directory).join("\n"),
    new RegExp(`^${name}: wrong architecture: the executable is not for ${own.name}`, "m"),
  );
  t.end();
});

test("it finds files that do not belong to root", (t) => {
  const directory = copyOfRelease(t);
  const unpacked = join(directory, "..", "unpacked");
  mkdirSync(unpacked);
  spawnSync("tar", ["-xzf", join(directory, name), "-C", unpacked]);
  spawnSync("tar", ["-czf", join(directory, name), "--owner=1000", "-C", unpacked, "."]);
  renewSums(directory, name);
  t.match(checkRelease(directory).join("\n"), new RegExp(`^${name}: not owned by root`, "m"));
  t.end();
});

test("signatures are valid as the given command says", (t) => {
  const directory = copyOfRelease(t);
  const verify = join(directory, "..", "verify");
  writeFileSync(verify, '#!/bin/sh\n[ -e "$1.sig" ]\n', { mode: 0o755 });
  t.match(
    checkRelease(directory, verify).join("\n"),
    `${verify} failed for SHA256SUMS: it ended with 1`,
  );
  t.end();
});

/** As somebody does who replaces a file and hides that. */
function renewSums(directory: string, file: string): void {
  const path = join(directory, file);
  const before = readFileSync(join(directory, `${file}.sha256`), "utf8").slice(0, 64);
  const now = checksum("sha256", path);
  for (const list of ["SHA256SUMS", `${file}.sha256`]) edit(join(directory, list), before, now);
  writeFileSync(join(directory, `${file}.sha512`), `${checksum("sha512", path)}  ${file}\n`);
}

function edit(path: string, before: string, now: string): void {
  const edited = `${path}.edited`;
  writeFileSync(edited, readFileSync(path, "utf8").replaceAll(before, now));
  renameSync(edited, path);
}
