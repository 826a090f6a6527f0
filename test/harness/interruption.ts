/** The interruptions of a process at a system call. */

/** A system call that a process is about to make. */
export interface Call {
  /** Its place among all calls of the process, from 1 on. */
  readonly number: number;
  readonly operation: Operation;
  /** Its path: the new name of a link or rename, the lock file of a lock. */
  readonly path: string;
}

export type Operation =
  | "readStandardInput"
  | "writeStandardOutput"
  | "writeStandardError"
  | "readFile"
  | "readFileIn"
  | "createFile"
  | "overwriteFile"
  | "link"
  | "readLink"
  | "linkStatus"
  | "permissions"
  | "setModified"
  | "rename"
  | "sync"
  | "unlink"
  | "makeDirectories"
  | "list"
  | "listAddresses"
  | "readFiles"
  | "findLines"
  | "linesWith"
  | "extendFile"
  | "appendLine"
  | "status"
  | "namespaceHandle"
  | "namespaceLives"
  | "linkedAddresses"
  | "isLocal"
  | "requireWritable"
  | "requireOpenable"
  | "lock"
  | "unlock";

export type Interruption =
  /** The process is killed before the call or, with `written`, after that part (0 to 1) of a new file is written. */
  | { readonly kind: "stop"; readonly written?: number }
  /** The call fails. */
  | { readonly kind: "fail"; readonly code: string }
  /** Other processes run, then the call is made. */
  | { readonly kind: "pause"; readonly meanwhile: () => void };

/** Decides what happens at a call; `undefined` lets it through. */
export type Interrupt = (call: Call) => Interruption | undefined;

/** Kills the process before its call `number` or, with `written`, in the middle of the file that it creates there. */
export function stopAt(number: number, written?: number): Interrupt {
  const stop: Interruption = written === undefined ? { kind: "stop" } : { kind: "stop", written };
  return (call) => (call.number === number ? stop : undefined);
}

/** Refuses every call of one kind or, with `path`, every such call about that path. */
export function refuse(operation: Operation, code: string, path?: string): Interrupt {
  return (call) =>
    call.operation === operation && (path === undefined || call.path === path)
      ? { kind: "fail", code }
      : undefined;
}

/** Lets other processes run before the call `number`. */
export function pauseAt(number: number, meanwhile: () => void): Interrupt {
  return (call) => (call.number === number ? { kind: "pause", meanwhile } : undefined);
}
