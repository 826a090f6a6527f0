/** File systems in a mount namespace of the scenario. */

import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "../faults/executables/scenario.ts";
import { scratchDirectory } from "./data-directory.ts";

const namespace = ["--mount", "--propagation", "private"];

/**
 * A mount namespace. A process of this one stands inside, and Linux shows below `/proc/<id>/root` what that process sees: test
 * and plugin reach the file systems from outside, by ordinary paths.
 */
export class Mounts {
  readonly #processId: number;
  readonly #inside: string;

  private constructor(processId: number, inside: string) {
    this.#processId = processId;
    this.#inside = inside;
  }

  /** Opens a mount namespace. It ends with the scenario, and also when this process is killed, since then its input ends. */
  static async open(teardown: Context["teardown"]): Promise<Mounts> {
    const inside = scratchDirectory({ teardown });
    const command = [...namespace, "sh", "-c", "echo inside; exec cat"];
    const keeper = spawn("unshare", command, { stdio: ["pipe", "pipe", "inherit"] });
    const ended = new Promise<void>((end) => keeper.once("exit", () => end()));
    await new Promise((entered, fail) => {
      keeper.stdout.once("data", entered);
      keeper.once("error", fail);
      keeper.once("exit", fail);
    });
    teardown(() => {
      keeper.stdin.end();
      return ended;
    });
    return new Mounts(keeper.pid ?? 0, inside);
  }

  /**
   * Opens a mount namespace whose processes find another boot, as after the next start of the machine, or on another machine.
   */
  static async openAfterBoot(teardown: Context["teardown"]): Promise<Mounts> {
    const mounts = await Mounts.open(teardown);
    // The time of the boot is in full seconds, and later than the present files.
    const booted = Math.floor(Date.now() / 1000) + 1;
    for (const [path, content] of [
      ["/proc/sys/kernel/random/boot_id", `${randomUUID()}\n`],
      ["/proc/stat", `btime ${booted}\n`],
    ] as const) {
      const file = join(scratchDirectory({ teardown }), "replaced");
      writeFileSync(file, content);
      mounts.run(["mount", "--bind", file, path]);
    }
    return mounts;
  }

  /** The path at which every process can reach `path` of this namespace's directory. */
  at(path: string): string {
    return join("/proc", String(this.#processId), "root", this.#inside, path);
  }

  /**
   * Mounts a new file system in memory.
   *
   * @param path where, in the directory of this namespace
   * @param options as of `mount -o`
   * @returns the path at which all can reach it
   */
  memory(path: string, options: string): string {
    mkdirSync(this.at(path), { recursive: true });
    this.run(["mount", "-t", "tmpfs", "-o", `mode=755,${options}`, "tmpfs", this.within(path)]);
    return this.at(path);
  }

  /**
   * Mounts a file system that is in a file.
   *
   * @param path where, in the directory of this namespace
   * @param image the file
   * @param options as of `mount -o`
   * @returns the path at which all can reach it
   */
  image(path: string, image: string, options = "loop"): string {
    mkdirSync(this.at(path), { recursive: true });
    this.run(["mount", "-o", options, image, this.within(path)]);
    return this.at(path);
  }

  /** Removes a mount. */
  unmount(path: string): void {
    this.run(["umount", this.within(path)]);
  }

  /** The words that run a program in this namespace. */
  get entry(): readonly string[] {
    return ["nsenter", "--mount", "--target", String(this.#processId), "--"];
  }

  /** Makes everything below `path` read-only, in this namespace. */
  freeze(path: string): void {
    this.run(["mount", "--bind", this.within(path), this.within(path)]);
    this.run(["mount", "-o", "remount,bind,ro", this.within(path)]);
  }

  /** The path at which processes of this namespace reach `path` of its directory. */
  within(path: string): string {
    return join(this.#inside, path);
  }

  /** Runs a command in this namespace, which must succeed. */
  run(command: readonly string[]): void {
    const [program = "", ...entered] = [...this.entry, ...command];
    const { status, stderr } = spawnSync(program, entered, { encoding: "utf8" });
    if (status !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  }
}
