// test: release
/** `npm run release -- --check` finds what is wrong with a release, and says in which file. */

import {
  copyFileSync,
  cpSync,
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
import { architectureNamed, ownArchitecture } from "../../scripts/build/architecture.ts";
import { checkRelease } from "../../scripts/release/check.ts";
import { checksum } from "../../scripts/release/checksum.ts";
import { command } from "../../scripts/release/command.ts";
import { debName } from "../../scripts/release/deb.ts";
import { makeRelease } from "../../scripts/release/make.ts";
import { variantsFor } from "../../scripts/release/release.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { archives, ownArchive, release, version } from "./release.ts";

const { name } = ownArchive;
const base = name.replace(/\.tgz$/, "");
const deb = debName({ version }, ownArchive.architecture);
const statement = `host-local-v${version}.provenance.json`;

/** The native executables for this machine and one other. */
const own = ownArchitecture();
const other = architectureNamed(own.name === "386" ? "amd64" : "386");
const small = join(mkdtempSync(join(tmpdir(), "host-local-release-")), "release");
const variants = [own, other].map((architecture) => ({ flavour: "native", architecture }) as const);
const options = { variants, allowChanges: true };
await makeRelease({
  variants,
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
  const architectures = [...new Set(archives.map(({ architecture }) => architecture))];
  const all = { variants: variantsFor(architectures), allowChanges: true };
  t.strictSame(checkRelease(release, all), []);
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
    "a file that is not a signature, though it is named after a listed one",
    (directory) => writeFileSync(join(directory, `${name}.run`), ""),
    new RegExp(`^${name}.run: SHA256SUMS does not list it$`, "m"),
  ],
  [
    "a package that is neither there nor listed",
    (directory) => {
      rmSync(join(directory, deb));
      edit(join(directory, "SHA256SUMS"), `${checksum("sha256", join(small, deb))}  ${deb}\n`, "");
    },
    new RegExp(`^${deb}: it is missing: SHA256SUMS does not list it$`, "m"),
  ],
  [
    "a package whose sum is missing in the provenance statement",
    (directory) => {
      edit(join(directory, statement), deb, "other.deb");
      renewSums(directory, statement);
    },
    new RegExp(`^${statement}: it is about other files than SHA256SUMS lists$`, "m"),
  ],
  [
    "a sum of another file",
    (directory) =>
      writeFileSync(join(directory, `${name}.sha512`), `${"0".repeat(128)}  ${name}\n`),
    new RegExp(`^${name}.sha512: it has another sum than ${name}$`, "m"),
  ],
  [
    "an SBOM of another archive",
    (directory) => {
      const bill = `${base}.cdx.json`;
      edit(join(directory, bill), checksum("sha256", join(small, name)), "0".repeat(64));
      renewSums(directory, bill);
    },
    new RegExp(`^${base}.cdx.json: it describes another archive$`, "m"),
  ],
  [
    "an SBOM that does not name what is linked in",
    (directory) => {
      const bill = `${base}.cdx.json`;
      edit(join(directory, bill), '"name": "glibc"', '"name": "musl"');
      renewSums(directory, bill);
    },
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
    t.match(checkRelease(directory, options).join("\n"), expected);
    t.end();
  });
}

const foreign = name.replace(`linux-${own.name}-`, `linux-${other.name}-`);

test("it finds the archive of another architecture", (t) => {
  const directory = copyOfRelease(t);
  copyFileSync(join(directory, foreign), join(directory, name));
  renewSums(directory, name);
  t.match(
    checkRelease(directory, options).join("\n"),
    new RegExp(`^${name}: it has no directory ${base}$`, "m"),
  );
  t.end();
});

test("it finds an executable of another architecture", (t) => {
  const directory = copyOfRelease(t);
  const work = scratchDirectory(t);
  command(["tar", "-xzf", join(small, foreign), "-C", work]);
  renameSync(join(work, foreign.replace(/\.tgz$/, "")), join(work, base));
  command(["tar", "-czf", join(directory, name), "-C", work, base]);
  renewSums(directory, name);
  t.match(
    checkRelease(directory, options).join("\n"),
    new RegExp(`^${name}: wrong architecture: the executable is not for ${own.name}`, "m"),
  );
  t.end();
});

test("it finds that an architecture is missing", (t) => {
  const expected = [
    ...variants,
    { flavour: "native", architecture: architectureNamed("s390x") } as const,
  ];
  const found = checkRelease(small, { ...options, variants: expected });
  t.match(found.join("\n"), /^host-local-linux-s390x-v.+\.tgz: it is missing/m);
  t.end();
});

test("it finds an architecture that was not asked for", (t) => {
  const found = checkRelease(small, { ...options, variants: variants.slice(0, 1) });
  t.match(
    found.join("\n"),
    new RegExp(`-linux-${other.name}-.*\\.tgz: it is not of a release for`),
  );
  t.end();
});

test("a release of files that differ from the commit is complete only if that is allowed", (t) => {
  const directory = copyOfRelease(t);
  const path = join(directory, statement);
  const content = JSON.parse(readFileSync(path, "utf8"));
  content.predicate.buildDefinition.internalParameters.filesDifferFromCommit = true;
  writeFileSync(`${path}.edited`, JSON.stringify(content));
  renameSync(`${path}.edited`, path);
  renewSums(directory, statement);
  t.strictSame(checkRelease(directory, options), []);
  t.match(checkRelease(directory, { variants }), [
    new RegExp(`^${statement}: the release was made of files that differ from the commit`),
  ]);
  t.end();
});

test("nothing is unpacked or run if a sum or a signature is wrong", (t) => {
  const directory = copyOfRelease(t);
  const foreign = name.replace(`linux-${own.name}-`, `linux-${other.name}-`);
  copyFileSync(join(directory, foreign), join(directory, name));
  t.notMatch(checkRelease(directory, options).join("\n"), "wrong architecture");

  renewSums(directory, name);
  const unverified = checkRelease(directory, { ...options, verify: "false" });
  t.ok(unverified.length > 0);
  t.strictSame(
    unverified.filter((problem) => !problem.includes(": false failed for ")),
    [],
  );
  t.end();
});

test("signatures are valid as the given command says", (t) => {
  const directory = copyOfRelease(t);
  const verify = join(directory, "..", "verify");
  writeFileSync(verify, '#!/bin/sh\n[ -e "$1.sig" ]\n', { mode: 0o755 });
  t.match(
    checkRelease(directory, { ...options, verify }).join("\n"),
    `${verify} failed for SHA256SUMS: it ended with 1`,
  );
  t.end();
});

/** As somebody does who replaces a file and hides that. */
function renewSums(directory: string, file: string): void {
  const now = checksum("sha256", join(directory, file));
  const lists = file.endsWith(".tgz") ? ["SHA256SUMS", `${file}.sha256`] : ["SHA256SUMS"];
  for (const list of lists) {
    edit(join(directory, list), checksum("sha256", join(small, file)), now);
  }
  if (!file.endsWith(".tgz")) return;
  const line = `${checksum("sha512", join(directory, file))}  ${file}\n`;
  writeFileSync(join(directory, `${file}.sha512`), line);
}

function edit(path: string, before: string, now: string): void {
  const edited = `${path}.edited`;
  writeFileSync(edited, readFileSync(path, "utf8").replaceAll(before, now));
  renameSync(edited, path);
}
