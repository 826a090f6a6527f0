/** What the plugin needs of the C library and Node.js does not offer, by `node:ffi` (Node.js 26 and later). */

import type { DynamicLibrary } from "node:ffi";

/** Functions of the C library. */
export interface CLibrary {
  /** `flock(2)`; returns 0, or the errno. */
  flock(descriptor: number, operation: number): number;
  /** `setns(2)`, for this thread; returns 0, or the errno. */
  setns(descriptor: number, kind: number): number;
  /** `name_to_handle_at(2)` of a path, following links; fills the handle, and returns 0, or the errno. */
  nameToHandle(path: string, handle: Buffer): number;
  /** `open_by_handle_at(2)` for reading; returns the descriptor, or the errno as a negative number. */
  openByHandle(mount: number, handle: Buffer): number;
  /**
   * A socket of `NETLINK_ROUTE` that does not block, or the errno as a negative number; and whether the kernel checks requests
   * (`NETLINK_GET_STRICT_CHK`).
   */
  routeSocket(): { readonly socket: number; readonly isStrict: boolean };
  /**
   * Lets a signal interrupt (EINTR) whatever this process then waits for, after some milliseconds and again and again
   * from then on: one that comes just before the wait begins has no effect.
   */
  interruptAfter(milliseconds: number): void;
  /** Ends `interruptAfter`. */
  stopInterrupting(): void;
}

const twoIntegers = { arguments: ["int32", "int32"], return: "int32" } as const;

const AT_FDCWD = -100;
const AT_SYMLINK_FOLLOW = 0x400;
const O_RDONLY = 0;
/** The flag of open(2) for which Node.js has no constant. */
const O_CLOEXEC = 0o2000000;

/** `AF_NETLINK`; `SOCK_RAW`, `SOCK_CLOEXEC` and `SOCK_NONBLOCK`; `NETLINK_ROUTE`. */
const ROUTE_SOCKET = [16, 3 | O_CLOEXEC | 0o4000, 0] as const;
const SOL_NETLINK = 270;
const NETLINK_GET_STRICT_CHK = 12;

const EIO = 5;
const SIGALRM = 14;
const ITIMER_REAL = 0;

/** Between interruptions, in microseconds. */
const INTERVAL = 50_000n;

const MICROSECONDS = 1_000_000n;

let loaded: { readonly library: CLibrary | undefined } | undefined;

/** The C library of this process; `undefined` where Node.js has no `node:ffi`. It is loaded once, when first asked for. */
export function cLibrary(): CLibrary | undefined {
  loaded ??= { library: load() };
  return loaded.library;
}

function load(): CLibrary | undefined {
  const ffi = withoutWarning(() => process.getBuiltinModule("node:ffi"));
  if (ffi === undefined) return undefined;
  try {
    // The symbols of the process itself: the name of the C library does not matter.
    const { lib } = ffi.dlopen(null);
    // Each function takes time to make, and a lock that is free needs only this one.
    const flock = lib.getFunction("flock", twoIntegers);
    let errno: bigint | undefined;
    let timers: ReturnType<typeof timersOf> | undefined;
    const errnoOf = (call: () => number): number => {
      if (call() === 0) return 0;
      if (errno === undefined) {
        errno = lib.getFunction("__errno_location", { arguments: [], return: "pointer" })();
        // Making the function has changed errno.
        if (call() === 0) return 0;
      }
      // Something else may have set errno to 0 in between; the call has failed.
      return ffi.getInt32(errno) || EIO;
    };
    let setns: typeof flock | undefined;
    let nameToHandle: ReturnType<typeof nameToHandleOf> | undefined;
    let openByHandle: ReturnType<typeof openByHandleOf> | undefined;
    return {
      flock: (descriptor, operation) => errnoOf(() => flock(descriptor, operation)),
      setns: (descriptor, kind) => {
        setns ??= lib.getFunction("setns", twoIntegers);
        const enter = setns;
        return errnoOf(() => enter(descriptor, kind));
      },
      nameToHandle: (path, handle) => {
        nameToHandle ??= nameToHandleOf(lib);
        const name = nameToHandle;
        const mount = Buffer.alloc(4);
        return errnoOf(() => name(AT_FDCWD, path, handle, mount, AT_SYMLINK_FOLLOW));
      },
      openByHandle: (mount, handle) => {
        openByHandle ??= openByHandleOf(lib);
        const open = openByHandle;
        let descriptor = -1;
        const failure = errnoOf(() => {
          descriptor = open(mount, handle, O_RDONLY | O_CLOEXEC);
          return descriptor < 0 ? descriptor : 0;
        });
        return failure === 0 ? descriptor : -failure;
      },
      routeSocket: () => {
        const open = lib.getFunction("socket", {
          arguments: ["int32", "int32", "int32"],
          return: "int32",
        });
        // The function is made before the socket is open, so that no failure leaves it so.
        const set = lib.getFunction("setsockopt", {
          arguments: ["int32", "int32", "int32", "pointer", "int32"],
          return: "int32",
        });
        let socket = -1;
        const failure = errnoOf(() => {
          socket = open(...ROUTE_SOCKET);
          return socket < 0 ? socket : 0;
        });
        if (failure !== 0) return { socket: -failure, isStrict: false };
        const on = Int32Array.of(1);
        const result = set(socket, SOL_NETLINK, NETLINK_GET_STRICT_CHK, on, on.byteLength);
        return { socket, isStrict: result === 0 };
      },
      interruptAfter: (milliseconds) => {
        timers ??= timersOf(lib);
        timers.set(BigInt(Math.ceil(milliseconds * 1000)), INTERVAL);
      },
      stopInterrupting: () => timers?.set(0n, 0n),
    };
  } catch {
    // A C library without it, or a Node.js that forbids its use.
    return undefined;
  }
}

function nameToHandleOf(lib: DynamicLibrary) {
  return lib.getFunction("name_to_handle_at", {
    arguments: ["int32", "string", "pointer", "pointer", "int32"],
    return: "int32",
  });
}

function openByHandleOf(lib: DynamicLibrary) {
  return lib.getFunction("open_by_handle_at", {
    arguments: ["int32", "pointer", "int32"],
    return: "int32",
  });
}

function timersOf(lib: DynamicLibrary): { set(first: bigint, interval: bigint): void } {
  const setTimer = lib.getFunction("setitimer", {
    arguments: ["int32", "pointer", "pointer"],
    return: "int32",
  });
  process.on("SIGALRM", () => {});
  // The handler that Node.js installs restarts system calls.
  lib.getFunction("siginterrupt", twoIntegers)(SIGALRM, 1);
  return {
    set: (first, interval) => {
      const times = [interval, first].flatMap((time) => [time / MICROSECONDS, time % MICROSECONDS]);
      setTimer(ITIMER_REAL, BigInt64Array.from(times), null);
    },
  };
}

/** `node:ffi` announces on standard error that it is experimental, which runtimes log for each pod. */
function withoutWarning<T>(call: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return call();
  } finally {
    process.emitWarning = emitWarning;
  }
}
