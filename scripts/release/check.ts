/** Checks a release as it lies in a directory, from its files alone. */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Architecture } from "../build/architecture.ts";
import { type ChecksumLine, checksum, readChecksums } from "./checksum.ts";
import { command } from "./command.ts";
import { outputOf } from "./contents.ts";
import { debName } from "./deb.ts";
import { elfKindOf } from "./elf.ts";
import { imageName } from "./image.ts";
import { componentsIn } from "./notices.ts";
import { Problems } from "./problems.ts";
import { nameOf, type Variant } from "./release.ts";
import { rpmName } from "./rpm.ts";
import { signedFiles, signWith } from "./signature.ts";
import { sysextName } from "./sysext.ts";

/** What the name of a signed file is followed by in the name of its signature: those of gpg, minisign and cosign. */
const signatureSuffixes = [".asc", ".sig", ".minisig", ".sigstore", ".sigstore.json", ".pem"];

/** How a release is checked. */
export interface CheckOptions {
  /** What the release should consist of. */
  readonly variants: readonly Variant[];
  /** Run for each signed file; fails if its signature is not valid. */
  readonly verify?: string;
  /** Whether a release of files that differ from the commit will do. */
  readonly allowChanges?: boolean;
}

/**
 * Checks the signatures; then that the files are there, and their sums; then that the executable of each archive runs, and
 * that the SBOMs and the provenance statement are about these files. Nothing is unpacked or run if a signature or a sum is
 * wrong. What archives, packages and image consist of is the subject of test/release: these sums are those of the release
 * that was tested.
 *
 * @param directory the release
 * @returns the problems, none if the release is complete
 */
export function checkRelease(directory: string, options: CheckOptions): readonly string[] {
  const { variants, verify, allowChanges = false } = options;
  const problems = new Problems();
  problems.attempt(directory, () => {
    if (verify !== undefined) checkSignatures(problems, directory, verify);
    if (problems.found.length > 0) return;
    const sums = readChecksums(join(directory, "SHA256SUMS"));
    const version = versionIn(sums);
    checkNames(problems, directory, sums, filesOfRelease(variants, version));
    for (const sum of sums) checkSum(problems, directory, sum);
    if (problems.found.length > 0) return;
    for (const variant of variants) {
      const name = `${nameOf(variant, version)}.tgz`;
      problems.attempt(name, () => checkArchive(problems, directory, variant, version));
    }
    checkProvenance(problems, directory, sums, allowChanges);
  });
  return problems.found;
}

function checkSignatures(problems: Problems, directory: string, verify: string): void {
  for (const file of signedFiles(directory)) {
    problems.attempt(file, () => signWith(verify, file));
  }
}

/** The version that the provenance statement is named for. */
function versionIn(sums: readonly ChecksumLine[]): string {
  const names = sums.map(({ name }) => /^host-local-v(.+)\.provenance\.json$/.exec(name)?.[1]);
  const [version] = names.filter((name) => name !== undefined);
  if (version === undefined) throw new Error("SHA256SUMS lists no provenance statement");
  return version;
}

function nativesIn(variants: readonly Variant[]): readonly Architecture[] {
  return variants
    .filter(({ flavour }) => flavour === "native")
    .map(({ architecture }) => architecture);
}

/** What SHA256SUMS lists. */
function filesOfRelease(variants: readonly Variant[], version: string): readonly string[] {
  const natives = nativesIn(variants);
  return [
    ...variants.flatMap((variant) =>
      [".tgz", ".cdx.json"].map((suffix) => `${nameOf(variant, version)}${suffix}`),
    ),
    ...natives.flatMap((architecture) =>
      [debName, rpmName, sysextName].map((nameFor) => nameFor({ version }, architecture)),
    ),
    ...(natives.length > 0 ? [imageName({ version })] : []),
    `host-local-v${version}.provenance.json`,
  ];
}

/** SHA256SUMS lists what the release consists of; besides that there are only sums of archives and signatures. */
function checkNames(
  problems: Problems,
  directory: string,
  sums: readonly ChecksumLine[],
  expected: readonly string[],
): void {
  const listed = sums.map(({ name }) => name);
  for (const name of expected) {
    problems.expect(listed.includes(name), name, "it is missing: SHA256SUMS does not list it");
  }
  for (const name of listed) {
    problems.expect(expected.includes(name), name, "it is not of a release for --arch");
  }
  const signed = signedFiles(directory).map((path) => basename(path));
  const known = new Set([
    "SHA256SUMS",
    ...listed,
    ...listed
      .filter((name) => name.endsWith(".tgz"))
      .flatMap((name) => [`${name}.sha256`, `${name}.sha512`]),
    ...signed.flatMap((name) => signatureSuffixes.map((suffix) => `${name}${suffix}`)),
  ]);
  for (const file of readdirSync(directory)) {
    problems.expect(known.has(file), file, "SHA256SUMS does not list it");
  }
}

function checkSum(problems: Problems, directory: string, { name, value }: ChecksumLine): void {
  const path = join(directory, name);
  if (!existsSync(path)) {
    problems.expect(false, name, "SHA256SUMS lists it, but it is missing");
    return;
  }
  const found = checksum("sha256", path);
  problems.expect(
    found === value,
    name,
    `it is damaged or was replaced: expected SHA-256 ${value}, found ${found}`,
  );
  if (!name.endsWith(".tgz")) return;
  for (const algorithm of ["sha256", "sha512"] as const) {
    const file = `${name}.${algorithm}`;
    problems.attempt(file, () => {
      const [line] = readChecksums(join(directory, file));
      const isRight = line?.name === name && line.value === checksum(algorithm, path);
      problems.expect(isRight, file, `it has another sum than ${name}`);
    });
  }
}

function checkArchive(
  problems: Problems,
  directory: string,
  variant: Variant,
  version: string,
): void {
  const base = join(directory, nameOf(variant, version));
  const path = `${base}.tgz`;
  const name = basename(path);
  const work = mkdtempSync(join(tmpdir(), "release-check-"));
  try {
    command(["tar", "-xzf", path, "-C", work, "--no-same-owner"]);
    const unpacked = join(work, basename(base));
    if (!existsSync(unpacked)) throw new Error(`it has no directory ${basename(base)}`);
    checkExecutable(problems, name, join(unpacked, "host-local"), variant.architecture, version);
    problems.attempt(name, () => checkSbom(problems, base, unpacked));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** An executable for another architecture than the archive is named for does not get as far as being run. */
function checkExecutable(
  problems: Problems,
  name: string,
  executable: string,
  architecture: Architecture,
  version: string,
): void {
  const { bits, endian, machine } = elfKindOf(executable);
  const { elf } = architecture;
  if (bits !== elf.bits || endian !== elf.endian || machine !== elf.machine) {
    problems.expect(
      false,
      name,
      `wrong architecture: the executable is not for ${architecture.name} (ELF machine ${elf.machine}), but for ELF machine ${machine}, ${bits} bits, ${endian}-endian`,
    );
    return;
  }
  const reported = outputOf({ architecture, executable }, ["version"]);
  problems.expect(
    reported.startsWith(`host-local v${version}\n`),
    name,
    `expected host-local v${version} to run, but it says ${JSON.stringify(reported)}`,
  );
}

/** The SBOM names the archive, the executable, and what the notices name. */
function checkSbom(problems: Problems, base: string, unpacked: string): void {
  const file = `${base}.cdx.json`;
  const name = basename(file);
  const { metadata, components }: Sbom = JSON.parse(readFileSync(file, "utf8"));
  const { component } = metadata;
  const archive = checksum("sha256", `${base}.tgz`);
  problems.expect(sumIn(component) === archive, name, "it describes another archive");
  const executable = checksum("sha256", join(unpacked, "host-local"));
  const [inside] = component.components;
  problems.expect(sumIn(inside) === executable, name, "it describes another executable");
  const named = components.map((one) => `${one.name} ${one.version}`).sort();
  const noticed = componentsIn(readFileSync(join(unpacked, "THIRD-PARTY-NOTICES"), "utf8"));
  problems.expect(
    named.join() === noticed.toSorted().join(),
    name,
    `it names ${named.join(", ")}, but THIRD-PARTY-NOTICES ${noticed.join(", ")}`,
  );
}

function sumIn(described: Described | undefined): string | undefined {
  return described?.hashes.find(({ alg }) => alg === "SHA-256")?.content;
}

/** The parts of an SBOM that are checked. */
interface Sbom {
  readonly metadata: {
    readonly component: Described & { readonly components: readonly Described[] };
  };
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

interface Described {
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
}

/** The statement is about every file of the list but itself, and about the commit alone. */
function checkProvenance(
  problems: Problems,
  directory: string,
  sums: readonly ChecksumLine[],
  allowChanges: boolean,
): void {
  const [statement] = sums.filter(({ name }) => name.endsWith(".provenance.json"));
  if (statement === undefined) return;
  problems.attempt(statement.name, () => {
    const { subject, predicate }: Statement = JSON.parse(
      readFileSync(join(directory, statement.name), "utf8"),
    );
    const stated = subject.map(({ name, digest }) => `${digest.sha256}  ${name}`).sort();
    const listed = sums
      .filter((sum) => sum !== statement)
      .map(({ name, value }) => `${value}  ${name}`)
      .sort();
    const isRight = stated.join("\n") === listed.join("\n");
    problems.expect(isRight, statement.name, "it is about other files than SHA256SUMS lists");
    const { filesDifferFromCommit = false } = predicate.buildDefinition.internalParameters;
    problems.expect(
      allowChanges || !filesDifferFromCommit,
      statement.name,
      "the release was made of files that differ from the commit (--allow-changes accepts that)",
    );
  });
}

/** The parts of a provenance statement that are checked. */
interface Statement {
  readonly subject: readonly {
    readonly name: string;
    readonly digest: { readonly sha256: string };
  }[];
  readonly predicate: {
    readonly buildDefinition: {
      readonly internalParameters: { readonly filesDifferFromCommit?: boolean };
    };
  };
}
