/** The handles of network namespaces, by `name_to_handle_at(2)` and `open_by_handle_at(2)` of the C library. */

import fs from "node:fs";
import { getSystemErrorName } from "node:util";
import { type NamespaceHandle, SystemError } from "../system.ts";
import { type CLibrary, cLibrary } from "./c-library.ts";
import { quietly } from "./system-call.ts";

/** The root of the file system of namespaces, `FD_NSFS_ROOT` since Linux 6.18. */
const NSFS_ROOT = -10003;

/** `FILEID_NSFS`, and how many bytes such a handle has. */
const NSFS_HANDLE = 241;
const SIZE = 16;

const CLONE_NEWNET = 0x40000000;

/** EPERM (of a seccomp profile), ENOSYS, EOVERFLOW (a longer handle, of another file system) and EOPNOTSUPP. */
const UNKNOWN = [1, 38, 75, 95];

const ESTALE = 116;

const LARGEST_ID = 2n ** 64n - 1n;
const LARGEST_INODE = 2n ** 32n - 1n;

/**
 * See `System.namespaceHandle`; `undefined` without `node:ffi`.
 *
 * @param library by default that of this process
 * @throws SystemError
 */
export function namespaceHandle(
  path: string,
  library: Pick<CLibrary, "nameToHandle"> | undefined = cLibrary(),
): NamespaceHandle | undefined {
  const fail = (code: string): SystemError => new SystemError("name_to_handle_at", path, code);
  if (path.includes("\0")) throw fail("EINVAL");
  if (library === undefined) return undefined;
  const handle = Buffer.alloc(8 + SIZE);
  handle.writeUInt32LE(SIZE, 0);
  const errno = library.nameToHandle(path, handle);
  if (UNKNOWN.includes(errno)) return undefined;
  if (errno !== 0) throw fail(getSystemErrorName(-errno));
  const isNetwork =
    handle.readUInt32LE(0) === SIZE &&
    handle.readInt32LE(4) === NSFS_HANDLE &&
    handle.readUInt32LE(16) === CLONE_NEWNET;
  if (!isNetwork) return undefined;
  return { id: String(handle.readBigUInt64LE(8)), inode: BigInt(handle.readUInt32LE(20)) };
}

/**
 * See `System.namespaceLives`; ENOSYS without `node:ffi`.
 *
 * @param library by default that of this process
 * @throws SystemError
 */
export function namespaceLives(
  { id, inode }: NamespaceHandle,
  library: Pick<CLibrary, "openByHandle"> | undefined = cLibrary(),
): boolean {
  const fail = (code: string): SystemError => new SystemError("open_by_handle_at", "nsfs", code);
  const isHandle =
    /^[0-9]+$/.test(id) && BigInt(id) <= LARGEST_ID && inode > 0n && inode <= LARGEST_INODE;
  if (!isHandle) throw fail("EINVAL");
  if (library === undefined) throw fail("ENOSYS");
  const handle = Buffer.alloc(8 + SIZE);
  handle.writeUInt32LE(SIZE, 0);
  handle.writeInt32LE(NSFS_HANDLE, 4);
  handle.writeBigUInt64LE(BigInt(id), 8);
  handle.writeUInt32LE(CLONE_NEWNET, 16);
  handle.writeUInt32LE(Number(inode), 20);
  const descriptor = library.openByHandle(NSFS_ROOT, handle);
  if (descriptor === -ESTALE) return false;
  if (descriptor < 0) throw fail(getSystemErrorName(descriptor));
  quietly(() => fs.closeSync(descriptor));
  return true;
}
