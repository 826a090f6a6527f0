/** Runs calls through runner.c, which measures them. */

import { join } from "node:path";
import { root } from "../build/bundle.ts";
import { command, output } from "../build/command.ts";

/** One start of an executable, as a runtime makes it. */
export interface Call {
  readonly executable: string;
  /** What it reads. */
  readonly configuration: string;
  readonly verb: string;
}

/** What calls cost that ran at the same time; one is a plain call. */
export interface Outcome {
  /** Wall time from before the first start to after the last end. */
  readonly milliseconds: number;
  /** CPU time in user and in kernel mode, of all together. */
  readonly cpuMilliseconds: number;
  /** The largest peak of resident memory. */
  readonly megabytes: number;
  /** The highest exit status. */
  readonly status: number;
  /** How much was printed. */
  readonly bytes: number;
}

/** Makes a call for so many containers at the same time. */
export type Runner = (call: Call, count: number) => Outcome;

/**
 * Compiles the runner.
 *
 * @param directory where to put it
 */
export function buildRunner(directory: string): Runner {
  const runner = join(directory, "runner");
  const warnings = ["-Wall", "-Wextra", "-Werror"];
  const source = join(root, "scripts/bench/runner.c");
  output(["gcc", "-std=gnu11", "-O2", "-static", ...warnings, source, "-o", runner]);
  return (call, count) => {
    const words = ["env", "-i", ...variablesOf(call), runner, `${count}`, call.executable];
    const printed = command(words, { input: call.configuration });
    const [wall = 0, cpu = 0, kibibytes = 0, status = 0, bytes = 0] = printed
      .split(" ")
      .map(Number);
    return {
      milliseconds: wall / 1e6,
      cpuMilliseconds: cpu / 1e3,
      megabytes: (kibibytes * 1024) / 1e6,
      status,
      bytes,
    };
  };
}

/** The environment, but for the container, which the runner names. */
export function variablesOf({ verb }: Call): readonly string[] {
  return [
    `CNI_COMMAND=${verb}`,
    "CNI_IFNAME=eth0",
    "CNI_NETNS=/run/netns/bench",
    "CNI_PATH=/opt/cni/bin",
    "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
  ];
}
