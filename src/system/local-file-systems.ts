/** File systems that one machine alone can mount. */

/**
 * The numbers in statfs(2) of bcachefs, Btrfs, ext2 to ext4, F2FS, JFS, NILFS, overlayfs, ramfs, ReiserFS, tmpfs, UBIFS, XFS
 * and ZFS. What is not known may be shared: network file systems, FUSE, cluster file systems.
 */
const LOCAL = [
  ...[0xca451a4e, 0x9123683e, 0xef53, 0xf2f52010, 0x3153464a, 0x3434, 0x794c7630],
  ...[0x858458f6, 0x52654973, 0x01021994, 0x24051905, 0x58465342, 0x2fc12fc1],
];

/** Whether a file system of this number belongs to one machine. */
export function isLocalType(type: number): boolean {
  return LOCAL.includes(type >>> 0);
}
