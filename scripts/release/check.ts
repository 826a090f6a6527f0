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
import { join } from "node:path";
import { type Architecture, architectureNamed } from "./architecture.ts";
import { checkPackages } from "./check-packages.ts";
import { type ChecksumLine, checksum, readChecksums } from "./checksum.ts";
import { command } from "./command.ts";
import { outputOf } from "./contents.ts";
import { elfKindOf } from "./elf.ts";
import { componentsIn } from "./notices.ts";
import { Problems } from "./problems.ts";
import { signedFiles, signWith } from "./signature.ts";

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

/** How an archive's file is named. */
const ARCHIVE = /^(host-local(?:-portable)?)-linux-([a-z0-9]+)-v(.+)\.tgz$/;

/**
 * Checks the sums, the contents of each archive, that the executables run, the packages and the image, and that the SBOMs and the provenance statement are
 * about these files.
 *
 * @param directory the release
 * @param verify a command that is run for each signed file, and fails if its signature is not valid
 * @returns the problems, none if the release is complete
 */
export function checkRelease(directory: string, verify?: string): readonly string[] {
  const problems = new Problems();
  problems.attempt(directory, () => {
    const sums = readChecksums(join(directory, "SHA256SUMS"));
    checkNames(problems, directory, sums);
    for (const sum of sums) checkSum(problems, directory, sum);
    const archives = sums.map(({ name }) => name).filter((name) => ARCHIVE.test(name));
    problems.expect(archives.length > 0, directory, "there is no archive");
    for (const name of archives) {
      problems.attempt(name, () => checkArchive(problems, directory, name));
    }
    const natives = archives.flatMap((name) => {
      const [, program, architecture = "", version = ""] = ARCHIVE.exec(name) ?? [];
      return program === "host-local" ? [{ architecture, version }] : [];
    });
    const [first] = natives;
    if (first !== undefined) {
      const { version } = first;
      const known = natives.map(({ architecture }) => architectureNamed(architecture));
      checkPackages(problems, { directory, version, architectures: known });
    }
    checkProvenance(problems, directory, sums);
    if (verify === undefined) return;
    for (const file of signedFiles(directory)) {
      problems.attempt(file, () => signWith(verify, file));
    }
  });
  return problems.found;
}

/** A file that is not in the list has to belong to one that is, as its sum or its signature does. */
function checkNames(problems: Problems, directory: string, sums: readonly ChecksumLine[]): void {
  const known = ["SHA256SUMS", ...sums.map(({ name }) => name)];
  for (const file of readdirSync(directory)) {
    const belongs = known.some((name) => file === name || file.startsWith(`${name}.`));
    problems.expect(belongs, file, "SHA256SUMS does not list it");
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
  if (!ARCHIVE.test(name)) return;
  for (const algorithm of ["sha256", "sha512"] as const) {
    const file = `${name}.${algorithm}`;
    problems.attempt(file, () => {
      const [line] = readChecksums(join(directory, file));
      const isRight = line?.name === name && line.value === checksum(algorithm, path);
      problems.expect(isRight, file, `it has another sum than ${name}`);
    });
  }
}

function checkArchive(problems: Problems, directory: string, name: string): void {
  const [, program = "", architectureName = "", version = ""] = ARCHIVE.exec(name) ?? [];
  const architecture = architectureNamed(architectureName);
  const unpacked = mkdtempSync(join(tmpdir(), "release-check-"));
  try {
    const path = join(directory, name);
    checkOwners(problems, path, name);
    command(["tar", "-xzf", path, "-C", unpacked, "--no-same-owner"]);
    checkFiles(problems, name, unpacked);
    checkExecutable(problems, name, join(unpacked, "host-local"), architecture, version);
    const base = join(directory, `${program}-linux-${architectureName}-v${version}`);
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

/** The statement is about every file of the list but itself. */
function checkProvenance(
  problems: Problems,
  directory: string,
  sums: readonly ChecksumLine[],
): void {
  const statement = sums.find(({ name }) => name.endsWith(".provenance.json"));
  if (statement === undefined) {
    problems.expect(false, directory, "there is no provenance statement");
    return;
  }
  problems.attempt(statement.name, () => {
    const text = readFileSync(join(directory, statement.name), "utf8");
    const { subject }: { subject: { name: string; digest: { sha256: string } }[] } =
      JSON.parse(text);
    const stated = subject.map(({ name, digest }) => `${digest.sha256}  ${name}`).sort();
    const listed = sums
      .filter((sum) => sum !== statement)
      .map(({ name, value }) => `${value}  ${name}`)
      .sort();
    const isRight = stated.join("\n") === listed.join("\n");
    problems.expect(isRight, statement.name, "it is about other files than SHA256SUMS lists");
  });
}
