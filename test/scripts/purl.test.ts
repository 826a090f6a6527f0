// test: own process
/** Scanners find a package of Debian by its release and its source package (package URL specification, type deb). */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { debianPurl } from "../../scripts/release/component.ts";

const [, own] = /^VERSION_ID="?(\d+)/m.exec(readFileSync("/etc/os-release", "utf8")) ?? [];

test("an update names the release of Debian that it is for", async (t) => {
  const version = "2.36-9+deb12u14";
  const source = { name: "glibc", version };
  t.equal(
    debianPurl({ name: "libc6-dev", version, architecture: "amd64", source }),
    "pkg:deb/debian/libc6-dev@2.36-9%2Bdeb12u14?arch=amd64&distro=debian-12&upstream=glibc",
  );
});

test("any other package is of this release, with a source of another version if it has one", async (t) => {
  t.equal(
    debianPurl({
      name: "libgcc-12-dev-arm64-cross",
      version: "1:12.2.0-14cross1",
      architecture: "all",
      source: { name: "gcc-12-cross", version: "15" },
    }),
    `pkg:deb/debian/libgcc-12-dev-arm64-cross@1:12.2.0-14cross1?arch=all&distro=debian-${own}&upstream=gcc-12-cross%4015`,
  );
});
