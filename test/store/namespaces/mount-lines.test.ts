/** What mountinfo says of network namespaces. */

import { test } from "tap";
import { mountedIn, sharedDirectories } from "../../../src/store/namespaces/mount-lines.ts";

test("a path has blanks and line ends as they are, and another kind of namespace is not listed", async (t) => {
  const lines = [
    "130 25 0:4 uts:[71] /run/utsns/b rw shared:9 - nsfs nsfs rw",
    "130 25 0:4 net:[72] /run/netns/a\\040b\\134\\012 rw shared:9 - nsfs nsfs rw",
  ];
  t.same(mountedIn(lines), [{ id: "net:[72]", path: "/run/netns/a b\\\n" }]);
});

test("the directories of namespaces that are mounted from elsewhere", async (t) => {
  t.same(
    sharedDirectories([
      "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw",
      "131 25 0:24 /netns /run/netns ro,nosuid master:9 - tmpfs tmpfs rw",
      "132 25 0:24 /run/netns /host/var/run/netns ro master:9 - tmpfs tmpfs rw",
      "133 25 0:24 /netnsx /run/netnsx ro master:9 - tmpfs tmpfs rw",
    ]),
    ["/run/netns", "/host/var/run/netns"],
  );
});
