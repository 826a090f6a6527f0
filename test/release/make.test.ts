// test: release, mounts
/** Making a release: equal bytes, signatures, and errors that leave nothing incomplete. */

import { spawnSync } from "node:child_process";
import { generateKeyPairSync, verify } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { ownArchitecture } from "../../scripts/build/architecture.ts";
import { requireUnchanged, shippedNode } from "../../scripts/build/shipped-node.ts";
import { checksum } from "../../scripts/release/checksum.ts";
import { imageName } from "../../scripts/release/image.ts";
import { makeImage, makeRelease } from "../../scripts/release/make.ts";
import { envelopeOf } from "../../scripts/release/provenance.ts";
import { requireReleasable } from "../../scripts/release/source.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { Mounts } from "../harness/mounts.ts";
import { lacking } from "../harness/needs.ts";
import { noForeign, PROVENANCE, release, statementIn, version } from "./release.ts";

const options = {
  variants: [{ flavour: "native", architecture: ownArchitecture() }],
  builder: "urn:test:builder",
  allowChanges: true,
} as const;

/** Options without an executable: a later step fails in the same way as with all executables. */
const ofNothing = { ...options, variants: [] };

test("two runs give the same bytes, whatever the umask and the path, and what is to be signed is", async (t) => {
  const directory = scratchDirectory(t);
  const output = join(directory, "with a blank", "release");
  const umask = process.umask(0o077);
  t.teardown(() => process.umask(umask));
  await makeRelease({ ...options, output, sign: script(directory, "sign", ': >"$1.asc"') });
  const signed = readdirSync(output).filter((name) => existsSync(join(output, `${name}.asc`)));
  t.same(
    signed
      .map((name) => name.replace(/^.*?(?=\.(?:tgz|deb|rpm|oci\.tar|intoto\.jsonl)$)/, ""))
      .sort(),
    [".deb", ".intoto.jsonl", ".oci.tar", ".rpm", ".tgz", "SHA256SUMS"],
  );
  for (const name of signed) rmSync(join(output, `${name}.asc`));
  // Files that concern all architectures.
  const common = /^SHA256SUMS$|\.(intoto\.jsonl|openvex\.json|oci\.tar)$/;
  for (const name of readdirSync(output).filter((file) => !common.test(file))) {
    t.equal(checksum("sha256", join(output, name)), checksum("sha256", join(release, name)), name);
  }
  const blobs = (directory: string) =>
    spawnSync("tar", ["-tf", join(directory, imageName({ version }))], { encoding: "utf8" })
      .stdout.split("\n")
      .filter((path) => /^blobs\/sha256\/./.test(path));
  const others = blobs(output).filter((path) => !blobs(release).includes(path));
  t.ok(others.length <= 1, "of the image, only the index may differ");
  const names = readdirSync(output).join("\n");
  t.notMatch(names, ".yaml", "without the name of an image there are no manifests");
});

test("the image alone is made without tools for packages", async (t) => {
  const directory = scratchDirectory(t);
  const output = join(directory, "image");
  const { PATH } = process.env;
  t.teardown(() => Object.assign(process.env, { PATH }));
  for (const tool of ["rpmbuild", "dpkg-deb"]) script(directory, tool, "exit 1");
  process.env.PATH = `${directory}:${PATH}`;
  await makeImage({ architectures: [ownArchitecture()], output, allowChanges: true });
  t.same(readdirSync(output).sort(), ["SHA256SUMS", imageName({ version })]);
});

test("a Node.js that differs in one byte from that of the lock file is refused", async (t) => {
  const node = shippedNode(ownArchitecture());
  t.doesNotThrow(() => requireUnchanged(node));
  const image = readFileSync(node.executable);
  image.writeUInt8(image.readUInt8(image.length >> 1) ^ 1, image.length >> 1);
  const executable = join(scratchDirectory(t), "node");
  writeFileSync(executable, image);
  t.throws(() => requireUnchanged({ ...node, executable }), {
    message: `${executable} is not the Node.js of ${node.packageName} ${node.version} in package-lock.json: run npm ci.`,
  });
});

test("the provenance statement names commit, inputs with their sums, and builder", async (t) => {
  const { envelope, statement } = statementIn(release);
  t.equal(envelope.payloadType, "application/vnd.in-toto+json");
  t.equal(statement._type, "https://in-toto.io/Statement/v1");
  t.equal(statement.predicateType, "https://slsa.dev/provenance/v1");
  const { buildDefinition, runDetails } = statement.predicate;
  t.match(buildDefinition.externalParameters.commit, /^[0-9a-f]{40}$/);
  const inputs: readonly { name: string; uri?: string; digest: { sha256?: string } }[] =
    buildDefinition.resolvedDependencies;
  for (const { name, digest } of inputs.slice(1)) t.match(digest.sha256, /^[0-9a-f]{64}$/, name);
  for (const input of [
    "package-lock.json",
    "libquickjs.a for",
    "pkg:deb/debian/libc6-dev@",
    /pkg:deb\/debian\/gcc-\d+(-[a-z0-9-]+)?@/,
    "pkg:npm/node-linux-",
    ...(noForeign === false ? ["pkg:deb/debian/qemu-user"] : []),
  ]) {
    t.match(JSON.stringify(inputs), input);
  }
  const node = inputs.find(({ name }) => name === `node for ${ownArchitecture().name}`);
  t.equal(node?.digest.sha256, checksum("sha256", shippedNode(ownArchitecture()).executable));
  t.type(runDetails.builder.id, "string");
});

test("the provenance is signed in its envelope, as cosign verifies it", async (t) => {
  const directory = scratchDirectory(t);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const [key, pub] = [join(directory, "key.pem"), join(directory, "key.pub")];
  writeFileSync(key, privateKey.export({ type: "sec1", format: "pem" }));
  writeFileSync(pub, publicKey.export({ type: "spki", format: "pem" }));
  const { statement } = statementIn(release);
  const sign = (command: string) =>
    writeFileSync(join(directory, PROVENANCE), envelopeOf(statement, command));

  sign(`openssl dgst -sha256 -sign ${key} | base64`);

  const { envelope, payload } = statementIn(directory);
  const head = `DSSEv1 28 application/vnd.in-toto+json ${payload.length} `;
  const [{ sig }] = envelope.signatures;
  const signed = Buffer.concat([Buffer.from(head), payload]);
  t.ok(verify("sha256", signed, publicKey, Buffer.from(sig, "base64")));
  const cosign = spawnSync("cosign", [
    ...["verify-blob-attestation", "--key", pub, "--signature", join(directory, PROVENANCE)],
    ...["--type", "slsaprovenance1", "--insecure-ignore-tlog"],
    join(release, imageName({ version })),
  ]);
  if (cosign.error === undefined) t.equal(cosign.status, 0, `${cosign.stderr}`);
  else t.comment("cosign is not installed");
  t.throws(() => sign("echo no signature"), { message: /expected a signature in base64/ });
  t.throws(() => sign("exit 3"), { message: /sh ended with 3/ });
});

test("the manifests have the image by its digest", async (t) => {
  const words = ["-xOf", join(release, imageName({ version })), "index.json"];
  const index = spawnSync("tar", words, { encoding: "utf8" }).stdout;
  const { digest } = JSON.parse(index).manifests[0];
  t.match(digest, /^sha256:[0-9a-f]{64}$/);
  for (const name of readdirSync(release).filter((file) => file.endsWith(".yaml"))) {
    const images = readFileSync(join(release, name), "utf8").match(/^ *(- )?image: .*$/gm) ?? [];
    t.ok(images.length > 0, name);
    t.strictSame(
      images.filter((line) => !line.endsWith(` registry.example.org/cni/host-local@${digest}`)),
      [],
      name,
    );
  }
});

test("a commit that may not be published is no release", async (t) => {
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
});

test("only a release is replaced, or an empty directory", async (t) => {
  const output = scratchDirectory(t);
  writeFileSync(join(output, "letter.txt"), "");
  await t.rejects(makeRelease({ ...options, output }), {
    message: `${output} is neither empty nor a release (no release has its letter.txt), so it is not replaced: choose another directory.`,
  });
  t.strictSame(readdirSync(output), ["letter.txt"]);
});

test("where signing fails there is no release", async (t) => {
  const directory = scratchDirectory(t);
  const output = join(directory, "release");
  const sign = script(directory, "sign", "exit 3");
  await t.rejects(makeRelease({ ...ofNothing, output, sign }), {
    message: new RegExp(`${sign} failed for .*: it ended with 3`),
  });
  t.strictSame(readdirSync(directory), ["sign"]);
});

test("on a full disk there is no half release", { skip: lacking("mounts") }, async (t) => {
  const mounts = await Mounts.open((action) => t.teardown(action));
  const disk = mounts.memory("disk", "size=8k");
  const output = join(disk, "release");
  await t.rejects(makeRelease({ ...ofNothing, output }), { message: /ENOSPC|No space left/ });
  t.notOk(existsSync(output));
  t.strictSame(readdirSync(disk), []);
});

function script(directory: string, name: string, line: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  return path;
}
