/** Reading in another network namespace, by `setns(2)` of the C library. */

import fs from "node:fs";
import { getSystemErrorName } from "node:util";
import { SystemError } from "../system.ts";
import { cLibrary } from "./c-library.ts";
import { systemCall } from "./system-call.ts";
import { withFile } from "./with-file.ts";

const { O_NOFOLLOW, O_RDONLY } = fs.constants;

/** `CLONE_NEWNET` of setns(2). */
const NETWORK_NAMESPACE = 0x40000000;

/**
 * Does something in the network namespace that is mounted at a path. `/proc/self` is the main thread, which enters it: every
 * call here runs in that thread.
 *
 * @throws SystemError
 */
export function readInNamespace<T>(namespace: string, read: () => T): T {
  return withNamespace(namespace, (target) =>
    withFile("/proc/self/ns/net", O_RDONLY, (own) => {
      enter(target, namespace);
      try {
        return read();
      } finally {
        returnTo(own);
      }
    }),
  );
}

/** `O_PATH` of open(2): nothing is opened but the name. */
const PATH_ONLY = 0o10000000;

/** The file system of namespaces, see statfs(2). */
const NSFS = 0x6e736673;

/**
 * Opens a namespace that is mounted at a path. It may lie in the mounts of somebody who exchanges it for a device
 * meanwhile, so nothing else is opened for reading.
 */
function withNamespace<T>(path: string, use: (namespace: number) => T): T {
  return withFile(path, PATH_ONLY | O_NOFOLLOW, (named) => {
    const itself = `/proc/self/fd/${named}`;
    const { type } = systemCall("statfs", path, () => fs.statfsSync(itself));
    if (type !== NSFS) throw new SystemError("open", path, "EINVAL");
    return withFile(itself, O_RDONLY, use);
  });
}

/** Returns to the own namespace, where what follows belongs, such as a program to run. */
function returnTo(own: number): void {
  try {
    enter(own, "/proc/self/ns/net");
  } catch {
    process.exit(2);
  }
}

function enter(descriptor: number, path: string): void {
  const library = cLibrary();
  // There is no C library without `node:ffi`.
  if (library === undefined) throw new SystemError("setns", path, "ENOSYS");
  const errno = library.setns(descriptor, NETWORK_NAMESPACE);
  if (errno !== 0) throw new SystemError("setns", path, getSystemErrorName(-errno));
}
