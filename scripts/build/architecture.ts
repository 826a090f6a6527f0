/** The architectures of Linux that the executables are built for. */

/** An architecture in each of the names that the tools have for it. */
export interface Architecture {
  /** Go's, as in the names of the archives. */
  readonly name: ArchitectureName;
  /** Debian's. */
  readonly debian: string;
  /** The GNU triplet, with which the names of the cross tools begin and which Debian's directories have. */
  readonly triplet: string;
  /** The triplet in the names of the cross tools, where it is another one. */
  readonly tools?: string;
  /** RPM's. */
  readonly rpm: string;
  /** The name in that of QEMU's emulator for its programs. */
  readonly qemu: string;
  /** Node.js's. */
  readonly node: string;
  /**
   * How wide the time is that the QuickJS library of Debian uses: `wide` where it is 64 bits because it was compiled so for
   * a machine of 32, `narrow` where it is 32 bits, absent on machines of 64.
   */
  readonly libraryTime?: "wide" | "narrow";
}

/** Go's names. */
export type ArchitectureName = "amd64" | "arm64" | "arm" | "ppc64le" | "s390x" | "riscv64" | "386";

/** All architectures that executables are built for. */
export const architectures: readonly Architecture[] = [
  {
    name: "amd64",
    debian: "amd64",
    triplet: "x86_64-linux-gnu",
    rpm: "x86_64",
    qemu: "x86_64",
    node: "x64",
  },
  {
    name: "arm64",
    debian: "arm64",
    triplet: "aarch64-linux-gnu",
    rpm: "aarch64",
    qemu: "aarch64",
    node: "arm64",
  },
  {
    name: "arm",
    debian: "armhf",
    triplet: "arm-linux-gnueabihf",
    rpm: "armv7hl",
    qemu: "arm",
    node: "arm",
    libraryTime: "wide",
  },
  {
    name: "ppc64le",
    debian: "ppc64el",
    triplet: "powerpc64le-linux-gnu",
    rpm: "ppc64le",
    qemu: "ppc64le",
    node: "ppc64",
  },
  {
    name: "s390x",
    debian: "s390x",
    triplet: "s390x-linux-gnu",
    rpm: "s390x",
    qemu: "s390x",
    node: "s390x",
  },
  {
    name: "riscv64",
    debian: "riscv64",
    triplet: "riscv64-linux-gnu",
    rpm: "riscv64",
    qemu: "riscv64",
    node: "riscv64",
  },
  {
    name: "386",
    debian: "i386",
    triplet: "i386-linux-gnu",
    tools: "i686-linux-gnu",
    rpm: "i686",
    qemu: "i386",
    node: "ia32",
    libraryTime: "narrow",
  },
];

/**
 * Finds an architecture by Go's name for it.
 *
 * @throws {RangeError} where there is none of that name
 */
export function architectureNamed(name: string): Architecture {
  const found = architectures.find((architecture) => architecture.name === name);
  if (found !== undefined) return found;
  const names = architectures.map((architecture) => architecture.name).join(", ");
  throw new RangeError(`expected one of the architectures ${names}, found ${name}`);
}

/**
 * The architecture of this machine.
 *
 * @throws {RangeError} where nothing is built for it
 */
export function ownArchitecture(): Architecture {
  const found = architectures.find(({ node }) => node === process.arch);
  if (found === undefined) throw new RangeError(`no executable is built for ${process.arch}`);
  return found;
}

/** The name of a compiler's tool, such as `gcc` or `strip`, that works for an architecture. */
export function tool(architecture: Architecture, name: string): string {
  if (architecture === ownArchitecture()) return name;
  return `${architecture.tools ?? architecture.triplet}-${name}`;
}

/**
 * The words that precede the path of a program of an architecture to run it here; none if the machine runs it itself. What
 * it is linked with dynamically it finds where Debian's cross compilers have theirs.
 */
export function emulator(architecture: Architecture): readonly string[] {
  const { qemu, triplet, tools = triplet } = architecture;
  return runsHere(architecture) ? [] : [`qemu-${qemu}`, "-L", `/usr/${tools}`];
}

/** Whether this machine runs programs of an architecture without an emulator: x86-64 runs those of 386. */
export function runsHere({ name }: Architecture): boolean {
  const own = ownArchitecture().name;
  return name === own || (name === "386" && own === "amd64");
}
