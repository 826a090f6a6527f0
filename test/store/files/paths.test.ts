import { test } from "tap";
import { join, locate } from "../../../src/store/files/paths.ts";
import { networkName } from "../fixtures.ts";

test("a network's paths lie in the data directory, the state directory apart from the reference's", (t) => {
  t.same(locate("/var/lib/cni/networks", networkName("net")), {
    network: "net",
    dataDir: "/var/lib/cni/networks",
    directory: "/var/lib/cni/networks/net",
    stateDirectory: "/var/lib/cni/networks/.host-local/net",
    usesStateDirectory: true,
    temporaryDirectory: "/var/lib/cni/networks/.host-local/net/new",
    lockFile: "/var/lib/cni/networks/net/lock",
  });
  t.end();
});

test("the data directory is cleaned as Go's filepath.Clean does it", (t) => {
  const cases = [
    ["/data/", "/data/net"],
    ["//data//sub/", "/data/sub/net"],
    ["/data/./sub/.", "/data/sub/net"],
    ["/data/x/../sub", "/data/sub/net"],
    ["/../data", "/data/net"],
    ["/", "/net"],
    ["/..", "/net"],
    ["data", "data/net"],
    ["./data", "data/net"],
    [".", "net"],
    ["", "net"],
    ["..", "../net"],
    ["../../data", "../../data/net"],
    ["data/../..", "../net"],
    ["/data/...", "/data/.../net"],
  ] as const;

  for (const [dataDir, directory] of cases) {
    t.equal(locate(dataDir, networkName("net")).directory, directory, dataDir);
  }
  t.end();
});

test("a name is joined to a clean directory as Go's filepath.Join does it", (t) => {
  t.equal(join("/data", "a"), "/data/a");
  t.equal(join("/", "a"), "/a");
  t.equal(join(".", "a"), "a");
  t.end();
});
