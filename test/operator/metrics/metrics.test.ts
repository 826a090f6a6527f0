// test: each executable, one if short, each architecture
/** `metrics` on real directories. */

import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { inRepository } from "../../harness/repository.ts";
import { nodeFor } from "../node.ts";
import { skipWithoutPromtool } from "../promtool.ts";

const { version } = JSON.parse(readFileSync(inRepository("package.json"), "utf8"));

test("each range has its counts, exact for IPv6, too", async (t) => {
  const node = nodeFor(t);
  node.network("net", {
    ranges: [
      [{ subnet: "198.51.100.0/29" }, { subnet: "203.0.113.0/30" }],
      [{ subnet: "2001:db8::/64" }],
    ],
    exclude: ["198.51.100.6"],
    reserved: { "2001:db8::/120": "default/db-0", "198.18.0.9": null },
  });
  for (const id of ["c1", "c2", "c3", "c4"]) node.call("ADD", "net", id);
  node.write("net/198.51.100.9", "", 60);
  node.write("net/203.0.113.2", "c4\r\neth0", 1);

  const { exitCode, stdout, stderr } = node.tool(["metrics"]);

  t.equal(exitCode, 0);
  t.equal(stderr, "");
  const small = 'network="net",data_dir="DATA",range_set="0",range="198.51.100.1-198.51.100.6"';
  const next = 'network="net",data_dir="DATA",range_set="0",range="203.0.113.1-203.0.113.2"';
  const large =
    'network="net",data_dir="DATA",range_set="1",range="2001:db8::1-2001:db8::ffff:ffff:ffff:ffff"';
  const lines = stdout.replaceAll(node.dataDir, "DATA").split("\n");
  const elsewhere = /^$|^#|^cni_ipam_check_findings/;
  t.same(
    lines.filter((line) => !elsewhere.test(line)),
    [
      `cni_ipam_build_info{version="v${version}"} 1`,
      `cni_ipam_addresses_capacity{${small}} 4`,
      `cni_ipam_addresses_capacity{${next}} 1`,
      `cni_ipam_addresses_capacity{${large}} 18446744073709551360`,
      `cni_ipam_addresses_used{${small}} 4`,
      `cni_ipam_addresses_used{${next}} 1`,
      `cni_ipam_addresses_used{${large}} 4`,
    ],
  );
});

test("--output writes a file that everybody may read, and prints nothing", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "198.51.100.0/24" });
  const directory = scratchDirectory(t);
  const path = join(directory, "cni-ipam.prom");

  t.same(node.tool(["metrics", "--output", path]), { exitCode: 0, stdout: "", stderr: "" });

  t.equal(readFileSync(path, "utf8"), node.tool(["metrics"]).stdout);
  t.equal(statSync(path).mode & 0o777, 0o644);
  t.match(node.tool(["metrics", "--output", directory]), {
    exitCode: 2,
    stderr: `host-local: metrics: --output: ${directory} exists and is not a regular file`,
  });
});

test("promtool accepts the metrics", { skip: skipWithoutPromtool }, async (t) => {
  const node = nodeFor(t);
  node.network("net", { ranges: [[{ subnet: "198.51.100.0/24" }], [{ subnet: "2001:db8::/64" }]] });
  node.call("ADD", "net", "c1");

  const { stdout } = node.tool(["metrics"]);
  const outcome = spawnSync("promtool", ["check", "metrics"], { input: stdout, encoding: "utf8" });

  t.match(outcome, { status: 0, stdout: "", stderr: "" });
});
