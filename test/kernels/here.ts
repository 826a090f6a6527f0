/** The tests of emulated machines on this machine's own kernel. */

import { spawnSync } from "node:child_process";
import type { Run } from "./emulator.ts";

/**
 * Puts the root directory of an emulated machine in place of this one's, for a shell and all its children. With `chroot(2)`
 * none of them could make a user namespace.
 */
const inRoot = `
set -e
mount --bind "$0" "$0"
cd "$0"
for directory in proc sys dev; do mount --rbind "/$directory" "$directory"; done
for directory in run tmp; do mount -t tmpfs tmpfs "$directory"; done
mkdir -p old
bin/busybox pivot_root . old
/bin/busybox --install -s /bin
PATH=/bin
umount -l /old
exec /tests/run.sh "$1" 2>&1
`;

/**
 * Runs tests in a mount namespace of their own, as root.
 *
 * @param root the directory that `makeRoot` has made
 * @param tests the names of files in `test/kernels/guest`, in their order
 */
export function runHere(root: string, tests: readonly string[]): Run {
  const words = ["--mount", "--propagation", "private", "sh", "-c", inRoot, root, tests.join(",")];
  const { status, stdout, stderr } = spawnSync("unshare", words, { encoding: "utf8" });
  return { printed: stdout, end: status === 0 ? "" : `unshare ended with ${status}: ${stderr}` };
}
