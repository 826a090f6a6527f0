// test: each executable
/** Ranges from a file of the node: `rangesFile`. */

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { readError } from "../harness/printed-error.ts";
import type { JsonObject } from "../harness/runtime-call.ts";
import { grantedAddresses, type Network, networkFor } from "./network.ts";

/** A network with the path of its file, which has this content. */
function networkWith(
  t: Test,
  content: string | undefined,
  ipam: JsonObject = {},
): { readonly network: Network; readonly file: string } {
  const file = join(scratchDirectory(t), "ranges");
  if (content !== undefined) writeFileSync(file, content);
  return { network: networkFor(t, { ...ipam, rangesFile: file }), file };
}

const json = JSON.stringify({
  net: [[{ subnet: "10.42.0.0/29", gateway: "10.42.0.6" }], [{ subnet: "2001:db8:42::/125" }]],
  other: [[{ subnet: "10.43.0.0/29" }]],
});

test("two nodes with one configuration have the ranges of their own files", (t) => {
  const granted = ["10.42.1.0/29", "10.42.2.0/29"].map((subnet) =>
    grantedAddresses(networkWith(t, JSON.stringify({ net: [[{ subnet }]] })).network.add("c1")),
  );
  t.same(granted, [["10.42.1.2"], ["10.42.2.2"]]);
  t.end();
});

test("the ranges are those of the network, with all their members", (t) => {
  const { network } = networkWith(t, json);

  t.match(JSON.parse(network.add("c1").stdout).ips, [
    { address: "10.42.0.1/29", gateway: "10.42.0.6" },
    { address: "2001:db8:42::2/125", gateway: "2001:db8:42::1" },
  ]);
  t.same(grantedAddresses(network.add("c2", { top: { name: "other" } })), ["10.43.0.2"]);
  t.equal(network.check("c1").exitCode, 0);
  t.equal(network.status().exitCode, 0);
  t.end();
});

test("flannel's subnet.env gives the node's subnets, with the gateway in them", (t) => {
  const { network } = networkWith(
    t,
    "FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.1.1/24\nFLANNEL_IPV6_NETWORK=fd00::/48\nFLANNEL_IPV6_SUBNET=fd00:0:0:1::1/64\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n",
  );

  t.match(JSON.parse(network.add("c1").stdout).ips, [
    { address: "10.244.1.2/24", gateway: "10.244.1.1" },
    { address: "fd00:0:0:1::2/64", gateway: "fd00:0:0:1::1" },
  ]);
  t.end();
});

test("its range sets come after those of the configuration", (t) => {
  const { network } = networkWith(t, json, { subnet: "10.44.0.0/29" });

  t.same(grantedAddresses(network.add("c1")), ["10.44.0.2", "10.42.0.1", "2001:db8:42::2"]);
  t.end();
});

const faulty: Readonly<Record<string, readonly [content: string | undefined, words: RegExp]>> = {
  "that is missing": [
    undefined,
    /^cannot read rangesFile: open \S+\/ranges: no such file or directory;/,
  ],
  "that is empty": [
    "",
    /^invalid rangesFile \S+\/ranges: line 1, column 1: unexpected end of JSON input;/,
  ],
  "that is not JSON": [
    '{\n  "net": [[{"subnet": "10.42.0.0/29"}],]\n}',
    /ranges: line 2, column 40: invalid character '\]' looking for beginning of value;/,
  ],
  "without the network": ['{"other": []}', /ranges: no ranges for network net;.* other$/],
  "with an invalid range": [
    '{"net": [[{"subnet": "10.42.0.1/29"}]]}',
    /ranges: invalid range set 0: Network has host bits set\. .*at net\[0\]\[0\]\.subnet$/,
  ],
  "with a range of the wrong type": [
    '{"net": [{"subnet": "10.42.0.0/29"}]}',
    /ranges: json: cannot unmarshal object into net\[0\]: expected a list/,
  ],
  "of flannel without a subnet": ["FLANNEL_MTU=1450\n", /ranges: neither FLANNEL_SUBNET nor/],
  "of flannel with a malformed subnet": [
    "FLANNEL_MTU=1450\nFLANNEL_SUBNET=10.244.1.1\n",
    /ranges: invalid CIDR address: 10\.244\.1\.1; .*FLANNEL_SUBNET, line 2$/,
  ],
};

for (const [what, [content, words]] of Object.entries(faulty)) {
  test(`a file ${what} fails ADD, CHECK and STATUS with its path and the place, but not DEL and GC`, (t) => {
    const { network, file } = networkWith(t, json);
    network.add("c1");
    network.add("c2");
    if (content === undefined) rmSync(file);
    else writeFileSync(file, content);

    for (const [outcome, code] of [
      [network.add("c3"), 999],
      [network.check("c1"), 999],
      [network.status(), 50],
    ] as const) {
      const error = readError(outcome.stdout);
      t.equal(error?.code, code);
      t.match(`${error?.msg}; ${error?.details}`, words);
    }
    t.same(network.del("c1"), { exitCode: 0, stdout: "", stderr: "" });
    t.equal(network.gc({ "cni.dev/valid-attachments": [] }).exitCode, 0);
    t.same(network.reserved(), []);
    t.end();
  });
}

test("a file that never ends, or is none, is an error at once", (t) => {
  const { network, file } = networkWith(t, undefined);
  execFileSync("mkfifo", [file]);
  t.match(readError(network.add("c1").stdout)?.msg, "line 1, column 1: unexpected end");
  rmSync(file);
  mkdirSync(file);
  t.match(readError(network.add("c1").stdout)?.msg, "is a directory");
  t.match(
    readError(network.add("c1", { ipam: { rangesFile: "/dev/zero" } }).stdout)?.msg,
    "cannot read rangesFile",
  );
  t.same(network.tree(), []);
  t.end();
});

test("a relative path is an error, since it would depend on the runtime's working directory", (t) => {
  const network = networkFor(t, { subnet: "10.42.0.0/29", rangesFile: "ranges.json" });

  const error = readError(network.add("c1").stdout);

  t.match(error, { code: 999, msg: "invalid rangesFile: ranges.json" });
  t.match(error?.details, "expected an absolute path at ipam.rangesFile");
  t.equal(network.del("c1").exitCode, 0);
  t.end();
});
