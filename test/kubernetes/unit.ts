/** A program of the cluster, under the control of the script `systemctl` in `commands/`. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const unitDirectory = "/etc/systemd/system";

/** A unit, which scenarios and printed commands start and stop alike. */
export class Unit {
  readonly name: string;

  /**
   * Installs the unit.
   *
   * @param name its name without `.service`
   * @param command the program with its arguments, none of which contains a blank
   */
  constructor(name: string, command: readonly string[]) {
    this.name = name;
    mkdirSync(unitDirectory, { recursive: true });
    writeFileSync(
      `${unitDirectory}/${name}.service`,
      `[Service]\nExecStart=${command.join(" ")}\n`,
    );
  }

  start(): void {
    systemctl("start", this.name);
  }

  stop(): void {
    systemctl("stop", this.name);
  }

  /** Kills its main process with SIGKILL. */
  kill(): void {
    systemctl("kill", "--signal=KILL", this.name);
  }

  /** Whether its main process runs. */
  get runs(): boolean {
    return spawnSync("systemctl", ["is-active", this.name]).status === 0;
  }

  /** Its main process. */
  get processId(): number {
    return Number(readFileSync(`/run/${this.name}.pid`, "utf8"));
  }

  /** Everything it has printed since the cluster began. */
  get log(): string {
    return readFileSync(`/run/log/${this.name}.log`, "utf8");
  }
}

function systemctl(...words: readonly string[]): void {
  execFileSync("systemctl", words, { stdio: "pipe" });
}
