/**
 * This machine as package managers see it, and as systemd starts it for the first time, in namespaces of its own; their writes
 * go to memory.
 */

import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { lacking } from "../harness/needs.ts";
import { until } from "../harness/until.ts";

/** The output of a program, on both streams, and its exit status. */
export interface Ended {
  readonly status: number | null;
  readonly said: string;
}

const SYSTEMD = "/usr/lib/systemd/systemd";

/** The mount point of the cgroup hierarchy that systemd needs, see cgroups(7). */
const cgroups = /^\S+ (\S+) cgroup2 /m.exec(readFileSync("/proc/self/mounts", "utf8"))?.[1];

/** Why such a machine cannot be made here; `undefined` if it can. */
export function machineObstacle(): string | undefined {
  if (!existsSync(SYSTEMD)) return "systemd is not installed.";
  if (cgroups === undefined) return "This machine has no cgroup2, which systemd needs.";
  return lacking("mounts") || undefined;
}

/**
 * Makes overlays over the directories that packages have files in, and starts systemd on them for the first time. None of this
 * machine's own units is enabled. The units of a package are enabled if its preset file says so or, as in Debian, if it has
 * none.
 */
const BOOT = `
root=$1
mount -t tmpfs tmpfs "$root" && cd "$root"
for name in etc usr var; do
  mkdir -p "layers/$name" "$name"
  mount -t tmpfs -o "size=$([ "$name" = usr ] && echo "$2" || echo 100%)" tmpfs "layers/$name"
  mkdir "layers/$name/upper" "layers/$name/work"
  mount -t overlay overlay "$name" \\
    -o "lowerdir=/$name,upperdir=layers/$name/upper,workdir=layers/$name/work"
done
mkdir -p proc sys dev run tmp packages old
for link in bin sbin lib lib32 lib64; do
  if [ -L "/$link" ]; then cp -a "/$link" .; fi
done
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for name in run tmp dev; do mount -t tmpfs tmpfs "$name"; done
for name in null zero full random urandom tty; do
  : >"dev/$name" && mount --bind "/dev/$name" "dev/$name"
done
mkdir dev/pts dev/shm
ln -s pts/ptmx dev/ptmx
: >etc/fstab
echo uninitialized >etc/machine-id
rm -rf etc/systemd/system etc/systemd/system-preset
# Images of containers forbid packages to start and stop services.
rm -f usr/sbin/policy-rc.d
mkdir -p etc/systemd/system-preset
printf 'enable host-local-*\\ndisable *\\n' >etc/systemd/system-preset/99-others.preset
pivot_root . old
umount -l old
while [ ! -e /packages/complete ]; do sleep 0.1; done
exec env -i container=test PATH="$PATH" ${SYSTEMD} --system --unit=multi-user.target
`;

/** Starts the machine, and ends it with this process, whose end closes standard input. Only SIGKILL reaches it. */
const KEEP = `
mkdir "$1"
sh -c 'echo 0 >"$0/cgroup.procs"; exec unshare --mount --propagation private --pid --fork --kill-child --uts --ipc --net \\
  --cgroup bash -e -c "$1" boot "$2" "$3"' "$1" "$3" "$2" "$4" >/dev/null &
echo $!
cat
kill -KILL $!
wait 2>/dev/null
while [ -n "$(find "$1" -name cgroup.procs -exec cat {} +)" ]; do sleep 0.1; done
find "$1" -depth -type d -exec rmdir {} +
`;

/** A machine that is prepared first, and can then be started. */
export class Machine {
  readonly #process: string;

  private constructor(process: string) {
    this.#process = process;
  }

  /**
   * Makes a machine that ends with the test. It is not started yet: programs find no systemd.
   *
   * @param usr how much can be written to /usr, in the form of tmpfs
   */
  static async open(t: Pick<Test, "teardown">, usr = "100%"): Promise<Machine> {
    const root = scratchDirectory(t);
    const cgroup = join(cgroups ?? "", basename(root));
    const keeper = spawn("bash", ["-c", KEEP, "keep", cgroup, root, BOOT, usr], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const end = new Promise<void>((settle) => keeper.once("exit", () => settle()));
    t.teardown(() => {
      keeper.stdin.end();
      return end;
    });
    const outside = await new Promise<string>((said) =>
      keeper.stdout.once("data", (line: Buffer) => said(`${line}`.trim())),
    );
    let inside = "";
    await until("the machine has its root", () => {
      const children = `/proc/${outside}/task/${outside}/children`;
      inside = existsSync(children) ? readFileSync(children, "utf8").trim() : "";
      return inside !== "" && existsSync(`/proc/${inside}/root/packages`);
    });
    return new Machine(inside);
  }

  /** Starts systemd, and waits until it has started everything. */
  async start(): Promise<void> {
    mkdirSync(this.at("/packages/complete"));
    const state = () => this.run("systemctl", "is-system-running", "--wait").said;
    await until("systemd is up", () => /^(?:running|degraded)$/m.test(state()));
  }

  /** Runs a program on the machine. */
  run(...words: readonly string[]): Ended {
    const entered = ["--all", "--target", this.#process, "--wd=/", "--", ...words];
    const { status, stdout, stderr } = spawnSync("nsenter", entered, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive", HOME: "/run" },
    });
    return { status, said: `${stdout}${stderr}` };
  }

  /** The path at which this process finds a file of that machine. */
  at(path: string): string {
    return join("/proc", this.#process, "root", path);
  }

  /** Copies a package to the machine, and returns its path there. */
  take(path: string): string {
    const there = join("/packages", basename(path));
    copyFileSync(path, this.at(there));
    return there;
  }
}
