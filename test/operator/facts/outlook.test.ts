/** outlook.ts: where a path is on a mount that nobody can write to. */

import { test } from "tap";
import { isReadOnly } from "../../../src/operator/facts/outlook.ts";

const mounts = `21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 8:2 / /var rw,relatime shared:2 - ext4 /dev/sda2 ro,errors=remount-ro
23 22 8:3 / /var/lib/cni rw,relatime - xfs /dev/sda3 rw
24 21 8:1 /srv /srv ro,relatime shared:1 - ext4 /dev/sda1 rw
25 24 8:4 / /srv/pod\\040networks rw - ext4 /dev/sda4 rw
26 21 8:5 / /data ro - ext4 /dev/sda5 ro
27 26 8:6 / /data rw - ext4 /dev/sda6 rw
`;

test("the last mount above a path decides, by its own options and those of its file system", async (t) => {
  for (const [path, expected] of [
    ["/etc", false],
    ["/var/lib", true],
    ["/variable", false],
    ["/var/lib/cni/networks/net", false],
    ["/srv/networks", true],
    ["/srv/pod networks/net", false],
    ["/data/net", false],
  ] as const) {
    t.equal(isReadOnly(mounts, path), expected, path);
  }
});
