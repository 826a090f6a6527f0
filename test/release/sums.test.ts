// test: release
/** The sums, the SBOMs and the provenance statement cover all files of the release. */

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { checksum } from "../../scripts/release/checksum.ts";
import { debName } from "../../scripts/release/deb.ts";
import { imageName } from "../../scripts/release/image.ts";
import { nameOf, variantsFor } from "../../scripts/release/release.ts";
import { rpmName } from "../../scripts/release/rpm.ts";
import { archives, PROVENANCE, release, statementIn, unpack, version } from "./release.ts";

/** The files that SHA256SUMS lists; `all sums are right` checks its form. */
const listed = readFileSync(join(release, "SHA256SUMS"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => line.split("  ") as [value: string, name: string]);

test("the release has every file of its architectures, and SHA256SUMS lists them", async (t) => {
  const architectures = [...new Set(archives.map(({ architecture }) => architecture))];
  const files = [
    ...variantsFor(architectures).flatMap((variant) =>
      [".tgz", ".cdx.json"].map((suffix) => `${nameOf(variant, version)}${suffix}`),
    ),
    ...architectures.flatMap((architecture) =>
      [debName, rpmName].map((nameFor) => nameFor({ version }, architecture)),
    ),
    imageName({ version }),
    ...readdirSync("deploy/overlays").map((overlay) => `host-local-v${version}-${overlay}.yaml`),
    `host-local-v${version}.openvex.json`,
    PROVENANCE,
  ];
  t.strictSame(listed.map(([, name]) => name).sort(), files.toSorted());
  const ofArchives = archives.flatMap(({ name }) => [`${name}.sha256`, `${name}.sha512`]);
  t.strictSame(readdirSync(release).sort(), [...files, ...ofArchives, "SHA256SUMS"].sort());
});

test("all sums are right", async (t) => {
  const lists = readdirSync(release).filter((name) => /^SHA256SUMS$|\.sha(?:256|512)$/.test(name));
  for (const list of lists) {
    const program = list.endsWith(".sha512") ? "sha512sum" : "sha256sum";
    const words = ["--check", "--strict", "--quiet", list];
    const { status, stdout, stderr } = spawnSync(program, words, {
      cwd: release,
      encoding: "utf8",
    });
    t.strictSame([status, stdout, stderr], [0, "", ""], list);
  }
});

test("the provenance statement has the sum of every file but its own", async (t) => {
  const { subject } = statementIn(release).statement;
  const stated: readonly { name: string; digest: { sha256: string } }[] = subject;
  t.strictSame(
    stated.map(({ name, digest }) => `${digest.sha256} ${name}`).sort(),
    listed
      .filter(([, name]) => name !== PROVENANCE)
      .map((line) => line.join(" "))
      .sort(),
  );
});

for (const archive of archives) {
  const name = archive.name.replace(/\.tgz$/, ".cdx.json");
  test(`${name} is about the archive and its program, and names what the notices name`, async (t) => {
    const directory = unpack(t, archive);
    const { metadata, components } = JSON.parse(readFileSync(join(release, name), "utf8"));
    const sumOf = (path: string) => [{ alg: "SHA-256", content: checksum("sha256", path) }];
    t.strictSame(metadata.component.hashes, sumOf(join(release, archive.name)));
    const [program] = metadata.component.components;
    t.strictSame(program.hashes, sumOf(join(directory, "host-local")));
    const notices = readFileSync(join(directory, "THIRD-PARTY-NOTICES"), "utf8");
    const [list = ""] = notices.split("=".repeat(78));
    const noticed = [...list.matchAll(/^ {2}(\S+ \S+) \(/gm)].map(([, work]) => work);
    const named: readonly { name: string; version: string }[] = components;
    t.strictSame(named.map((work) => `${work.name} ${work.version}`).sort(), noticed.sort());
  });
}
