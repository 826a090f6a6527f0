/** Checks a release as it lies in a directory, from its files alone. */

import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Architecture } from "../build/architecture.ts";
import { checkPackages } from "./check-packages.ts";
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

/** What an archive has at its top, besides the examples. */
const expectedFiles: Readonly<Record<string, number>> = {
  "host-local": 0o755,
  LICENSE: 0o644,
  "THIRD-PARTY-NOTICES": 0o644,
  "host-local.8": 0o644,
  "host-local.bash": 0o644,
  "_host-local": 0o644,
  "host-local.fish": 0o644,
};

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
 * Checks the signatures; then that the files are there, and their sums; then the contents of each archive, that the
 * executables run, the packages and the image, and that the SBOMs and the provenance statement are about these files. Nothing
 * is unpacked or run if a signature or a sum is wrong.
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
    checkPackages(problems, { directory, version, architectures: nativesIn(variants) });
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
      [".tgz", ".spdx.json", ".cdx.json"].map((suffix) => `${nameOf(variant, version)}${suffix}`),
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
  const unpacked = mkdtempSync(join(tmpdir(), "release-check-"));
  try {
    checkOwners(problems, path, name);
    command(["tar", "-xzf", path, "-C", unpacked, "--no-same-owner"]);
    checkFiles(problems, name, unpacked);
    checkExecutable(problems, name, join(unpacked, "host-local"), variant.architecture, version);
    problems.attempt(name, () => checkBills(problems, name, base, unpacked));
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
}

function checkOwners(problems: Problems, archive: string, name: string): void {
  const lines = command(["tar", "-tvzf", archive, "--numeric-owner"]).trim().split("\n");
  const foreign = lines.filter((line) => !/^\S+ 0\/0 /.test(line));
  problems.expect(foreign.length === 0, name, `not owned by root: ${foreign.join("; ")}`);
}

function checkFiles(problems: Problems, name: string, unpacked: string): void {
  const found = readdirSync(unpacked).sort();
  const expected = [...Object.keys(expectedFiles), "conf-examples", "static"].sort();
  problems.expect(
    found.join() === expected.join(),
    name,
    `expected the files ${expected.join(", ")}, found ${found.join(", ")}`,
  );
  for (const [file, mode] of Object.entries(expectedFiles)) {
    if (!found.includes(file)) continue;
    const status = lstatSync(join(unpacked, file));
    const isRight = status.isFile() && status.size > 0 && (status.mode & 0o7777) === mode;
    problems.expect(isRight, name, `${file} is no file of mode ${mode.toString(8)}, or is empty`);
  }
  problems.attempt(name, () => {
    const target = readlinkSync(join(unpacked, "static"));
    problems.expect(target === "host-local", name, `static leads to ${target}`);
  });
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

/** Both SBOMs name the archive, the executable, and what the notices name. */
function checkBills(problems: Problems, name: string, base: string, unpacked: string): void {
  const archive = checksum("sha256", `${base}.tgz`);
  const executable = checksum("sha256", join(unpacked, "host-local"));
  const notices = readFileSync(join(unpacked, "THIRD-PARTY-NOTICES"), "utf8");
  const inside = componentsIn(notices);
  for (const ending of ["spdx", "cdx"] as const) {
    const file = `${base}.${ending}.json`;
    const bill = readBill[ending](JSON.parse(readFileSync(file, "utf8")));
    const subject = `${name.replace(/\.tgz$/, "")}.${ending}.json`;
    problems.expect(bill.archive === archive, subject, "it describes another archive");
    problems.expect(bill.executable === executable, subject, "it describes another executable");
    problems.expect(
      bill.components.toSorted().join() === inside.toSorted().join(),
      subject,
      `it names ${bill.components.join(", ")}, but THIRD-PARTY-NOTICES ${inside.join(", ")}`,
    );
  }
}

/** What an SBOM says: sums, and the components with their versions. */
interface Bill {
  readonly archive: string | undefined;
  readonly executable: string | undefined;
  readonly components: readonly string[];
}

/** The parts of SPDX and CycloneDX that are checked. */
interface Spdx {
  readonly packages: readonly {
    readonly name: string;
    readonly versionInfo: string;
    readonly checksums?: readonly Sum<"checksumValue">[];
  }[];
  readonly files: readonly { readonly checksums: readonly Sum<"checksumValue">[] }[];
}

type Sum<Value extends string> = { readonly algorithm?: string; readonly alg?: string } & {
  readonly [key in Value]: string;
};

interface CycloneDx {
  readonly metadata: {
    readonly component: {
      readonly hashes: readonly Sum<"content">[];
      readonly components: readonly { readonly hashes: readonly Sum<"content">[] }[];
    };
  };
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

const readBill = {
  spdx: ({ packages: [self, ...others], files: [file] }: Spdx): Bill => ({
    archive: self?.checksums?.find(({ algorithm }) => algorithm === "SHA256")?.checksumValue,
    executable: file?.checksums.find(({ algorithm }) => algorithm === "SHA256")?.checksumValue,
    components: others.map(({ name, versionInfo }) => `${name} ${versionInfo}`),
  }),
  cdx: ({ metadata: { component }, components }: CycloneDx): Bill => ({
    archive: component.hashes.find(({ alg }) => alg === "SHA-256")?.content,
    executable: component.components[0]?.hashes.find(({ alg }) => alg === "SHA-256")?.content,
    components: components.map(({ name, version }) => `${name} ${version}`),
  }),
} as const;

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
