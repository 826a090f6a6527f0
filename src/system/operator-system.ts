/** What the operator commands ask of the machine beyond what the plugin does. */

import type { System } from "./system.ts";

/** A program that has ended. */
export interface CompletedProcess {
  /** 127 where it could not be started, 128 and the signal's number where it was killed. */
  readonly exitCode: number;
  readonly stdout: string;
}

/** Who may do what with a file. */
export interface Permissions {
  /** The lower twelve bits of the mode, such as 0o600. */
  readonly mode: number;
  /** The number of the user to whom it belongs. */
  readonly user: number;
}

/** The machine as the operator commands see it; as with `System`, a refusal is a `SystemError`. */
export interface OperatorSystem extends System {
  /** What stands on the command line behind the program's name. */
  readonly arguments: readonly string[];
  /** Whether standard input (0), output (1) or error (2) is a terminal. */
  isTerminal(stream: 0 | 1 | 2): boolean;
  /** A line of standard input without its end; `undefined` at the end of the input. */
  readLine(): string | undefined;
  /** Whose a file is, and who may write it; of a symbolic link itself. */
  permissions(path: string): Permissions;
  /**
   * Copies a file byte by byte to a new one with this mode (EEXIST where anything stands there); when it returns, the
   * copy is on the disk.
   */
  copyFile(from: string, to: string, mode: number): void;
  /** Whether two files hold the same bytes. */
  sameContent(path: string, other: string): boolean;
  /**
   * Runs a program to its end, with nothing on its standard input and our own standard error.
   *
   * @param command its name, which is looked for in `PATH`, and its arguments
   * @param limit more than so many bytes of output is an error (EFBIG)
   * @param variables what its environment has besides our own
   */
  run(
    command: readonly [string, ...string[]],
    limit: number,
    variables?: Readonly<Record<string, string>>,
  ): CompletedProcess;
}
