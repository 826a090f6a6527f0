/** The interface to the operating system for the operator's tool: what it needs beyond `System`. */

import type { System, SystemError } from "./system.ts";

/** A process that has exited. */
export interface CompletedProcess {
  /** 127 where the program could not be started, 128 plus the signal number where it was killed. */
  readonly exitCode: number;
  readonly stdout: string;
  /** Empty unless it was captured. */
  readonly stderr: string;
}

/**
 * How a program is run as a CNI plugin: with no more of the environment than `PATH`. Its standard error is captured, at most 64 KiB,
 * and one that cannot be started is an error (ENOEXEC, ENOENT also of its interpreter, EACCES).
 */
export interface PluginCall {
  /** The name that it is called by (`argv[0]`). */
  readonly name: string;
  /** The value of `CNI_COMMAND`. */
  readonly command: string;
  /**
   * Milliseconds after which it is killed, with its children, and the call fails (ETIMEDOUT); it runs in a process group
   * of its own.
   */
  readonly timeout: number;
}

/** What a service does next: run a program, killed with its children after a time, accept connections, or wait. */
export type ServiceStep =
  | {
      readonly kind: "run";
      readonly command: readonly [string, ...string[]];
      /** After how many milliseconds it is killed. */
      readonly timeout: number;
      /** Whether its standard output is this process's standard error, as its errors are, and so neither kept nor bounded. */
      readonly isLogged: boolean;
    }
  | { readonly kind: "listen"; readonly address: string; readonly port: number }
  | { readonly kind: "wait"; readonly milliseconds: number };

/** A process that goes on until it is terminated, see `OperatorSystem.serve`. */
export interface Service {
  /** Called at the start, and after each step: the end of a program, an attempt to listen, or a wait. */
  next(): ServiceStep;
  /**
   * Takes the end of a step. Of a program: ETIMEDOUT if it was killed, EFBIG if its output is too long. Or whether connections
   * are accepted now.
   */
  completed(step: ServiceStep, outcome: CompletedProcess | "listening" | SystemError): void;
  /**
   * The response to what a connection has sent so far, a character for each byte, after which the connection is closed;
   * `undefined` as long as the request is incomplete.
   */
  respond(request: string): string | undefined;
}

/** The operating system as the operator's tool uses it; as with `System`, a failed call throws `SystemError`. */
export interface OperatorSystem extends System {
  /** The command-line arguments after the program's name. */
  readonly arguments: readonly string[];
  /** Whether standard input (0), output (1) or error (2) is a terminal. */
  isTerminal(stream: 0 | 1 | 2): boolean;
  /** The size of the terminal on standard output, 0 where it is not known; `undefined` where there is none. */
  terminalSize(): { readonly columns: number; readonly rows: number } | undefined;
  /** The time of a clock that nobody sets and that begins with the boot, in whole milliseconds; see clock_gettime(2). */
  monotonic(): number;
  /** Reads a line of standard input, without its line end; `undefined` at the end of the input. */
  readLine(): string | undefined;
  /**
   * Reads a pipe or a device to its end, decoded as UTF-8; more than `limit` bytes is an error (EFBIG), and so is no end
   * within `timeout` milliseconds (ETIMEDOUT), as far as that can be detected without blocking.
   */
  readPipe(path: string, limit: number, timeout: number): string;
  /**
   * Copies a file to a new one with this mode (EEXIST where the path exists); the copy is synced to disk before it
   * returns.
   */
  copyFile(from: string, to: string, mode: number): void;
  /**
   * The network interfaces of this process's namespace, and then their addresses, see rtnetlink(7); some perhaps twice. The line of
   * an interface, such as `4 cni0 bridge up 0 -1`, has its index, its name, its kind (`-` for none), `up` or `down`, the index of
   * the bridge or other master that it is a port of (0 for none), and the id of the namespace of its other end, as `namespaceId`
   * has it (-1 for none). That of an address, such as `4 10.1.2.1/24`, has the index, and IPv6 in any of its forms.
   */
  networkLinks(): string;
  /**
   * The id that the network namespace of this process has for another one, as of `ip netns list-id`; `undefined` where it has none.
   *
   * @param path where that is mounted, or that of a process's
   */
  namespaceId(path: string): number | undefined;
  /** Whether a text is in a file of whatever size. */
  hasText(path: string, text: string): boolean;
  /**
   * Runs a program and waits for it, with an empty standard input.
   *
   * @param command its name, which is looked up in `PATH`, and its arguments
   * @param limit the most bytes of output; more is an error (EFBIG)
   */
  run(
    command: readonly [string, ...string[]],
    limit: number,
    plugin?: PluginCall,
  ): CompletedProcess;
  /**
   * Serves until SIGTERM or SIGINT, which end the process with exit code 0, and kill the program that runs; also as the
   * first process of a container. A connection may take five seconds, and the oldest one of too many is closed. On
   * Node.js it returns, and the event loop serves.
   */
  serve(service: Service): void;
}
