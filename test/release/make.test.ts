// test: release
/** Making a release: equal bytes, signatures, and errors that leave nothing half made. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { ownArchitecture } from "../../scripts/build/architecture.ts";
import { requireUnchanged, shippedNode } from "../../scripts/build/shipped-node.ts";
import { checksum, readChecksums } from "../../scripts/release/checksum.ts";
import { imageName } from "../../scripts/release/image.ts";
import { makeRelease } from "../../scripts/release/make.ts";
import { requireReleasable } from "../../scripts/release/source.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { Mounts, mountObstacle } from "../harness/mounts.ts";
import { noForeign, release, version } from "./release.ts";

const options = {
  variants: [{ flavour: "native", architecture: ownArchitecture() }],
  builder: "urn:test:builder",
  allowChanges: true,
} as const;

test("two runs give the same bytes, whatever the umask and the path", async (t) => {
  const output = join(scratchDirectory(t), "with a blank", "release");
  const umask = process.umask(0o077);
  t.teardown(() => process.umask(umask));
  await makeRelease({ ...options, output });
  // These are about all architectures.
  const common = /^SHA256SUMS$|\.provenance\.json$|\.oci\.tar$/;
  for (const name of readdirSync(output).filter((one) => !common.test(one))) {
    t.equal(checksum("sha256", join(output, name)), checksum("sha256", join(release, name)), name);
  }
  const blobs = (directory: string) =>
    spawnSync("tar", ["-tf", join(directory, imageName({ version }))], { encoding: "utf8" })
      .stdout.split("\n")
      .filter((path) => /^blobs\/sha256\/./.test(path));
  const others = blobs(output).filter((path) => !blobs(release).includes(path));
  t.ok(others.length <= 1, "of the image, only the index may differ");
  t.end();
});

test("a Node.js that differs in one byte from that of the lock file is refused", (t) => {
  const node = shippedNode(ownArchitecture());
  t.doesNotThrow(() => requireUnchanged(node));
  const image = readFileSync(node.executable);
  image.writeUInt8(image.readUInt8(image.length >> 1) ^ 1, image.length >> 1);
  const executable = join(scratchDirectory(t), "node");
  writeFileSync(executable, image);
  t.throws(() => requireUnchanged({ ...node, executable }), {
    message: `${executable} is not the Node.js of ${node.packageName} ${node.version} in package-lock.json: run npm ci.`,
  });
  t.end();
});

test("the provenance statement names commit, inputs and builder", (t) => {
  const sums = readChecksums(join(release, "SHA256SUMS"));
  const file = sums.find(({ name }) => name.endsWith(".provenance.json"))?.name ?? "";
  const statement = JSON.parse(readFileSync(join(release, file), "utf8"));
  t.equal(statement._type, "https://in-toto.io/Statement/v1");
  t.equal(statement.predicateType, "https://slsa.dev/provenance/v1");
  const { buildDefinition, runDetails } = statement.predicate;
  t.match(buildDefinition.externalParameters.commit, /^[0-9a-f]{40}$/);
  const inputs = JSON.stringify(buildDefinition.resolvedDependencies);
  for (const input of [
    "package-lock.json",
    "libquickjs.a for",
    "pkg:deb/debian/libc6-dev",
    /pkg:deb\/debian\/gcc-\d+(-[a-z0-9-]+)?@/,
  ]) {
    t.match(inputs, input);
  }
  t.type(runDetails.builder.id, "string");
  t.end();
});

test("the provenance statement names the emulator that the build used", {
  skip: noForeign,
}, (t) => {
  const [statement = ""] = readdirSync(release).filter((name) => name.endsWith(".provenance.json"));
  t.match(readFileSync(join(release, statement), "utf8"), "pkg:deb/debian/qemu-user");
  t.end();
});

test("a commit that may not be published is no release", (t) => {
  const directory = scratchDirectory(t);
  const git = (...words: readonly string[]) =>
    spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...words], {
      cwd: directory,
      encoding: "utf8",
    }).stdout.trim();
  const changelog = (text: string) => {
    writeFileSync(join(directory, "CHANGELOG.md"), text);
    git("add", ".");
    git("commit", "--quiet", "--message", "Changes");
    return { version: "1.2.3", commit: git("rev-parse", "HEAD") };
  };
  const jane = "Jane Doe <jane@example.org>";
  const home = (address: string) =>
    writeFileSync(join(directory, "package.json"), JSON.stringify({ homepage: address }));
  git("init", "--quiet");
  home("https://example.org/host-local");
  const early = changelog("# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A key.\n");
  t.throws(() => requireReleasable(early, jane, directory), { message: /under "Unreleased"/ });
  const source = changelog("# Changelog\n\n## [Unreleased]\n\n## [1.2.3]\n\n- A key.\n");
  t.throws(() => requireReleasable(source, undefined, directory), { message: /--maintainer/ });
  t.throws(() => requireReleasable(source, jane, directory), { message: /homepage/ });
  home("https://host-local.invalid/");
  t.doesNotThrow(() => requireReleasable(source, jane, directory));
  git("tag", "--annotate", "--message", "1.2.3", "v1.2.3");
  t.doesNotThrow(() => requireReleasable(source, jane, directory));
  const late = changelog("# Changelog\n\n## [1.2.3]\n\n- A key, and another.\n");
  t.throws(() => requireReleasable(late, jane, directory), {
    message: /tag v1\.2\.3 is on another/,
  });
  t.end();
});

test("only a release is replaced, or an empty directory", async (t) => {
  const output = scratchDirectory(t);
  writeFileSync(join(output, "letter.txt"), "");
  await t.rejects(makeRelease({ ...options, output }), {
    message: `${output} is neither empty nor a release, so it is not replaced: choose another directory.`,
  });
  t.strictSame(readdirSync(output), ["letter.txt"]);
});

test("a release is signed with a key, and a changed file is found by its signature", {
  skip: spawnSync("gpg", ["--version"]).status === 0 ? false : "gpg is not installed.",
}, async (t) => {
  const directory = scratchDirectory(t);
  const output = join(directory, "release");
  const home = join(directory, "gnupg");
  const gpg = `gpg --batch --quiet --no-tty --homedir ${home}`;
  mkdirSync(home, { mode: 0o700 });
  t.teardown(() => spawnSync("gpgconf", ["--homedir", home, "--kill", "all"]));
  const made = spawnSync("sh", [
    "-c",
    `${gpg} --passphrase '' --quick-generate-key test@example.org`,
  ]);
  t.equal(made.status, 0, made.stderr.toString());
  const sign = script(directory, "sign", `exec ${gpg} --armor --detach-sign "$1"`);
  const verified = (name: string) =>
    spawnSync("sh", ["-c", `${gpg} --verify "$1.asc" "$1"`, "sh", join(output, name)]).status;

  await makeRelease({ ...options, output, sign });
  const signed = readdirSync(output).filter((name) => existsSync(join(output, `${name}.asc`)));
  t.ok(signed.includes("SHA256SUMS"));
  for (const name of signed) t.equal(verified(name), 0, name);
  const statement = readdirSync(output).find((name) => name.endsWith(".provenance.json")) ?? "";
  writeFileSync(join(output, statement), "{}\n");
  t.not(verified(statement), 0);
});

test("where signing fails there is no release", async (t) => {
  const directory = scratchDirectory(t);
  const output = join(directory, "release");
  const sign = script(directory, "sign", "exit 3");
  await t.rejects(makeRelease({ ...options, output, sign }), {
    message: new RegExp(`${sign} failed for .*: it ended with 3`),
  });
  t.strictSame(readdirSync(directory), ["sign"]);
});

test("on a full disk there is no half release", { skip: mountObstacle() ?? false }, async (t) => {
  const mounts = await Mounts.open((action) => t.teardown(action));
  const disk = mounts.memory("disk", "size=2m");
  const output = join(disk, "release");
  await t.rejects(makeRelease({ ...options, output }), { message: /ENOSPC|No space left/ });
  t.notOk(existsSync(output));
  t.strictSame(readdirSync(disk), []);
});

function script(directory: string, name: string, line: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  return path;
}
