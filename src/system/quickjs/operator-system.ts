/** `OperatorSystem` on the C host. */

import type { OperatorSystem } from "../operator-system.ts";
import { callHost, createQuickJsSystem, type QuickJsSystem } from "./quickjs-system.ts";
import { serve } from "./serve.ts";

/** The functions of operator-host.c; each throws a `HostError` when its system call fails. */
interface OperatorHost {
  readonly arguments: readonly string[];
  isTerminal(stream: number): boolean;
  /** 0 where it is not known. */
  terminalWidth(): number;
  sleep(milliseconds: number): void;
  readLine(): string | undefined;
  readPipe(path: string, limit: number, milliseconds: number): string;
  /** Mode and user id. */
  permissions(path: string): readonly [number, number];
  copyFile(from: string, to: string, mode: number): void;
  sameContent(path: string, other: string): boolean;
  hasText(path: string, text: string): boolean;
  /** Exit code, standard output and captured standard error; variables as `NAME=value`, timeout 0 for none. */
  run(
    command: readonly string[],
    limit: number,
    variables: readonly string[],
    timeout: number,
    captureStderr: boolean,
  ): readonly [number, string, string];
}

declare const operatorHost: OperatorHost;

/** The system of the operator's tool; host.c has set up the process. */
export function createQuickJsOperatorSystem(): OperatorSystem & QuickJsSystem {
  return {
    ...createQuickJsSystem(),
    arguments: operatorHost.arguments,
    isTerminal: (stream) => operatorHost.isTerminal(stream),
    terminalWidth: () => operatorHost.terminalWidth() || undefined,
    sleep: (milliseconds) => operatorHost.sleep(milliseconds),
    readPipe: (path, limit, timeout) =>
      callHost(path, () => operatorHost.readPipe(path, limit, timeout)),
    readLine: () => callHost("/dev/stdin", () => operatorHost.readLine()),
    permissions: (path) => {
      const [mode, user] = callHost(path, () => operatorHost.permissions(path));
      return { mode, user };
    },
    copyFile: (from, to, mode) => callHost(to, () => operatorHost.copyFile(from, to, mode)),
    sameContent: (path, other) => callHost(path, () => operatorHost.sameContent(path, other)),
    hasText: (path, text) => callHost(path, () => operatorHost.hasText(path, text)),
    run: (command, limit, { variables = {}, timeout = 0, captureStderr = false } = {}) => {
      const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
      const [exitCode, stdout, stderr] = callHost(command[0], () =>
        operatorHost.run(command, limit, settings, timeout, captureStderr),
      );
      return { exitCode, stdout, stderr };
    },
    serve,
  };
}
