/** Emulated machines with Debian's kernels, which `scripts/fetch/kernels.sh` has fetched. */

import { type ChildProcess, spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  globSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { command, output } from "../../scripts/build/command.ts";
import { inRepository } from "../harness/repository.ts";

const fetched = inRepository("build/kernels");
const emulator = join(fetched, "emulator");
const busybox = join(emulator, "bin/busybox");

/** The directories of Debian's modules that a machine needs, for its disks with their file systems and for its interfaces. */
const MODULES = [
  ...["fs/xfs", "fs/btrfs", "lib", "crypto", "arch/x86/crypto", "drivers/virtio"],
  ...["drivers/block/virtio_blk.ko*", "drivers/net/{veth,macvlan,dummy}.ko*"],
  ...["net/bridge/bridge.ko*", "net/802/stp.ko*", "net/llc/llc.ko*"],
];

/** The memory of a machine, in megabytes. */
const MEMORY = 512;

/** The options of the kernel: on a busy machine the emulated timer is late, which the kernel takes for broken. */
const OPTIONS = "console=ttyS0 quiet panic=-1 no_timer_check";

/** The time limit of a machine, in seconds, enough on a busy host; one that runs longer hangs. */
const LONGEST = 1200;

/** A kernel of Debian. */
export interface Kernel {
  /** The suite of Debian that has it. */
  readonly suite: string;
  /** Its release, as `uname -r` prints it. */
  readonly release: string;
  /** The file to boot. */
  readonly image: string;
  /** The path of its modules, with a directory `kernel` in it. */
  readonly modules: string;
}

/** A disk of a machine. */
export interface Disk {
  /** The name, which begins with its file system, such as `ext4-cut-1`; at most 20 characters. */
  readonly name: string;
  readonly image: string;
  /** The file to which each write is added, see `write-log.ts`. */
  readonly log?: string;
}

/** A machine to boot. */
export interface Machine {
  readonly kernel: Kernel;
  /** The file that `writeInitialFileSystem` has made. */
  readonly initialFileSystem: string;
  /** The names of files in `test/kernels/guest`, in their order. */
  readonly tests: readonly string[];
  readonly disks: readonly Disk[];
  /** The file for the kernel's messages; beside it are the files for the machine's results and for the emulator's messages. */
  readonly console: string;
}

/** The outcome of a machine's run. */
export interface Run {
  /** TAP, a section for each file. */
  readonly printed: string;
  /** Why it ended; empty if it switched itself off, or lost its power as intended. */
  readonly end: string;
}

/** The kernels that are fetched, the oldest first. */
export function kernels(): readonly Kernel[] {
  return readdirSync(fetched)
    .flatMap((suite) => {
      const [modules] = globSync(join(fetched, suite, "{usr/,}lib/modules/*"));
      const [image] = globSync(join(fetched, suite, "{boot/vmlinuz-*,usr/lib/modules/*/vmlinuz}"));
      if (modules === undefined || image === undefined) return [];
      return [{ suite, release: basename(modules), image, modules }];
    })
    .toSorted((a, b) => a.release.localeCompare(b.release, "en", { numeric: true }));
}

/**
 * Makes the root directory of a machine: busybox, the executable, the tests.
 *
 * @param directory the directory in which it is made anew
 * @param executable the statically linked executable
 */
export function makeRoot(directory: string, executable: string): string {
  const root = join(directory, "root");
  rmSync(root, { recursive: true, force: true });
  for (const name of ["bin", "proc", "sys", "dev", "run", "tmp", "etc", "disk"]) {
    mkdirSync(join(root, name), { recursive: true });
  }
  cpSync(busybox, join(root, "bin/busybox"));
  cpSync(executable, join(root, "bin/host-local"));
  cpSync(inRepository("test/kernels/guest"), join(root, "tests"), { recursive: true });
  writeFileSync(join(root, "etc/machine-id"), "5f0c0ffee5f0c0ffee5f0c0ffee5f0c0\n");
  return root;
}

/**
 * Makes the file system that a kernel boots into, with its modules.
 *
 * @param root the root directory of the machine
 * @param file the file to write
 */
export function writeInitialFileSystem(kernel: Kernel, root: string, file: string): void {
  cpSync(join(root, "tests/init.sh"), join(root, "init"));
  const modules = join(root, "lib/modules", kernel.release);
  for (const path of globSync(MODULES.map((name) => join(kernel.modules, "kernel", name)))) {
    const target = join(modules, path.slice(kernel.modules.length));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(path, target, { recursive: true });
  }
  const compressed = globSync(join(modules, "**/*.ko.xz"));
  if (compressed.length > 0) command([busybox, "unxz", ...compressed]);
  const archive = output([busybox, "cpio", "-o", "-H", "newc"], {
    directory: root,
    input: globSync("**", { cwd: root })
      .map((name) => `${name}\n`)
      .join(""),
  });
  writeFileSync(file, gzipSync(archive, { level: 1 }));
}

/**
 * Boots a machine, and waits until it has switched itself off.
 *
 * @param storm runs while the machine is in a storm; then it loses its power
 */
export async function runMachine(machine: Machine, storm?: () => Promise<void>): Promise<Run> {
  const emulated = boot(machine);
  let printed = "";
  let end = "";
  const kill = (why: string): void => {
    end = why;
    emulated.kill("SIGKILL");
  };
  const limit = setTimeout(kill, LONGEST * 1000, `it took longer than ${LONGEST} s`);
  let isStorm = false;
  emulated.stdout?.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
    appendFileSync(`${machine.console}.tap`, chunk);
    if (storm === undefined || isStorm || !/^# storm$/m.test(printed)) return;
    isStorm = true;
    void storm().then(() => kill(""));
  });
  const status = await new Promise((settle) => emulated.on("close", settle));
  clearTimeout(limit);
  if (status !== 0 && !isStorm && end === "") end = `the emulator ended with ${status}`;
  return { printed, end };
}

/** Starts a machine, which prints the results of its tests on standard output. */
function boot({ kernel, initialFileSystem, tests, disks, console }: Machine): ChildProcess {
  const libraries = ["lib", "usr/lib"].map((name) => join(emulator, name, "x86_64-linux-gnu"));
  const words = [
    ...[join(emulator, "lib64/ld-linux-x86-64.so.2"), "--library-path", libraries.join(":")],
    ...[join(emulator, "usr/bin/qemu-system-x86_64"), "-nodefaults", "-no-user-config"],
    ...["qemu", "seabios"].flatMap((name) => ["-L", join(emulator, "usr/share", name)]),
    // The machine is emulated without the help of this machine's processor: a virtual machine has none to give.
    ...["-accel", "tcg", "-m", `${MEMORY}`, "-smp", "1", "-display", "none", "-no-reboot"],
    ...["-serial", `file:${console}`, "-serial", "stdio"],
    ...["-kernel", kernel.image, "-initrd", initialFileSystem],
    ...["-append", `${OPTIONS} tests=${tests.join(",")}`],
    ...disks.flatMap(wordsFor),
  ];
  return spawn("nice", ["-n", "5", ...words], {
    stdio: ["ignore", "pipe", openSync(`${console}.emulator`, "w")],
    env: { ...process.env, QEMU_MODULE_DIR: join(emulator, "usr/lib/x86_64-linux-gnu/qemu") },
  });
}

/**
 * The options for a disk. A write is in the image as soon as the machine's disk has it, so that a killed emulator is a loss of
 * power.
 */
function wordsFor({ name, image, log }: Disk, at: number): readonly string[] {
  const file = (node: string, filename: string): readonly string[] => [
    "-blockdev",
    JSON.stringify({ driver: "file", "node-name": node, filename }),
  ];
  const [disk, logged, written] = [`disk${at}`, `logged${at}`, `log${at}`];
  const logging = { driver: "blklogwrites", "node-name": logged, file: disk, log: written };
  const device = { driver: "virtio-blk-pci", serial: name, drive: log ? logged : disk };
  return [
    ...file(disk, image),
    ...(log ? [...file(written, log), "-blockdev", JSON.stringify(logging)] : []),
    ...["-device", JSON.stringify(device)],
  ];
}
