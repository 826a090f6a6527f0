/** The C host, as JavaScript sees it: the global object `host`. */

import type { CompletedProcess, OperatorSystem } from "../operator-system.ts";
import { type System, SystemError } from "../system.ts";

/** Calls of the system that are more than a function of the host. */
type Composed =
  | "makeDirectories"
  | "isLocal"
  | "lock"
  | "namespaceLives"
  | "requireOpenable"
  | "requireWritable"
  | "run"
  | "serve";

/** The functions of the host, by name in host.c; a failed system call throws `SystemError`. */
interface Host extends Omit<OperatorSystem, keyof System | Composed>, PluginHost {
  /** Lets SIGTERM and SIGINT end the process from now on, with exit code 0, and kill the program that runs. */
  endOnSignals(): void;
  /** Accepts connections; `path` is for its errors. */
  listen(path: string, address: string, port: number): void;
  /** Starts a program, with words as `wordsOf` makes them, and `CNI_COMMAND` unless that is empty. */
  start(program: string, argv: string, command: string, options: StartOptions): void;
  /** A request when more of it has arrived, a character for each byte; `undefined` after the time, or when a program has ended. */
  wait(milliseconds: number): string | undefined;
  /** Answers that request. */
  answer(response: string): void;
  /** `undefined` while the program runs, or there is none; then, once, what it ended with. */
  result(program: string): CompletedProcess | undefined;
}

/** What a started program may do, and what is kept of its output. */
interface StartOptions {
  /** After how many milliseconds it is killed; 0 for never. */
  readonly timeout: number;
  /** The most bytes of captured output. */
  readonly limit: number;
  /** Whether standard output is captured, or else is this process's standard error. */
  readonly capturesOutput: boolean;
  /** Whether standard error is captured, or else is that of this process. */
  readonly capturesErrors: boolean;
}

/** The functions for a call of the plugin. */
interface PluginHost extends Omit<System, Composed> {
  /** Set by the plugin: serves a call, and is given the name that the program was called by, without a directory. */
  serve: (programName: string) => void;
  /** Set by the program: what is thrown for a failed system call. */
  SystemError: typeof SystemError;
  makeDirectory(path: string, mode: number): void;
  /** Whether a handle of a namespace opens, see `System.namespaceLives`. */
  opensNamespace(id: string, inode: bigint): boolean;
  /** The number of its type, see statfs(2). */
  fileSystemType(path: string): number;
  /** Throws where this process has not the permissions to make files in a directory. */
  requireAccess(path: string): void;
  /** Throws where this process cannot open a file, see `System.requireOpenable`. */
  requireOpenable(path: string, isToWrite: boolean): void;
  /** Whether its file system has no block left, or no inode. */
  isFull(path: string): boolean;
  /** Takes `flock(2)` on a file, which is made where it is missing; EAGAIN after the time. Returns its descriptor. */
  flock(path: string, milliseconds: number): number;
  unlock(descriptor: number): void;
  exit(code: number): void;
}

declare global {
  /** Made by host.c. */
  var host: Host;
}

/**
 * Words of a program as one text, each with NUL behind it.
 *
 * @throws SystemError (EINVAL) where one of them contains NUL, at which the kernel would truncate it
 */
export function wordsOf(program: string, words: readonly string[]): string {
  if (words.some((word) => word.includes("\0"))) throw new SystemError("exec", program, "EINVAL");
  return words.map((word) => `${word}\0`).join("");
}
