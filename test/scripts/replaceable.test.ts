// test: own process
/** A release replaces an older one, and a directory with anything else in it stays as it is. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { requireReplaceable } from "../../scripts/release/replaceable.ts";
import { scratchDirectory } from "../harness/data-directory.ts";

/** Of each kind one; with `--sign`, and with the sources that are published with it. */
const RELEASE = [
  "SHA256SUMS",
  "SHA256SUMS.asc",
  "glibc_2.36-9+deb12u14.debian.tar.xz",
  "glibc_2.36-9+deb12u14.dsc",
  "glibc_2.36.orig.tar.xz",
  "host-local-1.1.0~rc.1-1.x86_64.rpm",
  "host-local-1.1.0~rc.1-1.x86_64.rpm.sig",
  "host-local-linux-amd64-v1.1.0-rc.1.cdx.json",
  "host-local-linux-amd64-v1.1.0-rc.1.tgz",
  "host-local-linux-amd64-v1.1.0-rc.1.tgz.minisig",
  "host-local-linux-amd64-v1.1.0-rc.1.tgz.sha256",
  "host-local-linux-amd64-v1.1.0-rc.1.tgz.sha512",
  "host-local-portable-linux-amd64-v1.1.0-rc.1.tgz",
  "host-local-v1.1.0-rc.1-kubeadm.yaml",
  "host-local-v1.1.0-rc.1-source.tar.gz",
  "host-local-v1.1.0-rc.1.intoto.jsonl",
  "host-local-v1.1.0-rc.1.oci.tar",
  "host-local-v1.1.0-rc.1.oci.tar.sigstore.json",
  "host-local-v1.1.0-rc.1.openvex.json",
  "host-local_1.1.0~rc.1-1_amd64.deb",
];

test("a directory that is not there, is empty or is a release is replaced", async (t) => {
  const directory = scratchDirectory(t);
  t.doesNotThrow(() => requireReplaceable(join(directory, "none")));
  t.doesNotThrow(() => requireReplaceable(directory));
  for (const name of RELEASE) writeFileSync(join(directory, name), "");
  t.doesNotThrow(() => requireReplaceable(directory));
});

for (const [what, names, reason] of [
  ...["letter.txt", "host-local", "host-local-notes.txt", "id.pem", ".git", "notes.tgz"].map(
    (other) => [
      `a release beside which there is ${other}`,
      [...RELEASE, other],
      `no release has its ${other}`,
    ],
  ),
  [
    "a directory of the name of such a file",
    ["SHA256SUMS", "host-local-linux-amd64-v1.1.0.tgz/"],
    "no release has its host-local-linux-amd64-v1.1.0.tgz",
  ],
  ["files without the sums", ["host-local-linux-amd64-v1.1.0.tgz"], "it has no SHA256SUMS"],
] as [string, string[], string][]) {
  test(`${what} is not replaced`, async (t) => {
    const directory = scratchDirectory(t);
    for (const name of names) {
      if (name.endsWith("/")) mkdirSync(join(directory, name));
      else writeFileSync(join(directory, name), "");
    }
    t.throws(() => requireReplaceable(directory), {
      message: `${directory} is neither empty nor a release (${reason}), so it is not replaced: choose another directory.`,
    });
  });
}
