// test: native executable, full extent only, slow
/** The C host under the address and undefined-behaviour sanitizers, which also find leaks. */

import { spawnSync } from "node:child_process";
import { test } from "tap";
import { buildNative } from "../../scripts/build/native.ts";
import { runTestFiles } from "../../scripts/test/process.ts";
import { inRepository } from "../harness/repository.ts";
import { ownRuntimeDirectory } from "../harness/runtime-directory.ts";

const executable = await buildNative({ checked: true });

function attachment(command: string) {
  return {
    CNI_COMMAND: command,
    CNI_CONTAINERID: "c1",
    CNI_IFNAME: "eth0",
    CNI_NETNS: "/run/netns/none",
    CNI_PATH: "/opt/cni/bin",
  };
}

const dualStack = (dataDir: string): string =>
  JSON.stringify({
    cniVersion: "1.1.0",
    name: "net",
    ipam: {
      dataDir,
      ranges: [[{ subnet: "198.51.100.0/30" }], [{ subnet: "2001:db8::/64" }]],
      routes: [{ dst: "0.0.0.0/0" }],
    },
    "cni.dev/valid-attachments": [],
  });

/** The calls, in this order on one data directory, so that each finds the files of those before it. */
const calls: readonly (readonly [
  what: string,
  environment: Readonly<Record<string, string>>,
  exitCode: number,
  configuration?: (dataDir: string) => string,
])[] = [
  ["no command", {}, 0],
  ["VERSION", { CNI_COMMAND: "VERSION" }, 0],
  ["STATUS", attachment("STATUS"), 0],
  ["ADD", attachment("ADD"), 0],
  ["a repeated ADD", attachment("ADD"), 1],
  ["CHECK", attachment("CHECK"), 0],
  ["an exhausted range", { ...attachment("ADD"), CNI_CONTAINERID: "c2" }, 1],
  ["DEL", attachment("DEL"), 0],
  ["GC", attachment("GC"), 0],
  ["no JSON", attachment("ADD"), 1, () => "{"],
  ["a path with NUL", attachment("ADD"), 1, (dataDir) => dualStack(`${dataDir}\0x`)],
  ["no data directory can be made", attachment("ADD"), 1, () => dualStack("/proc/none")],
  [
    "deeply nested JSON",
    attachment("ADD"),
    1,
    () => `{"name":"net","x":${"[".repeat(9000)}${"]".repeat(9000)}}`,
  ],
];

test("the C host has no memory error, undefined behaviour or leak", async (t) => {
  const dataDir = t.testdir();
  for (const [what, environment, exitCode, configuration = dualStack] of calls) {
    const { status, stderr } = spawnSync(executable, {
      input: configuration(dataDir),
      env: { ...ownRuntimeDirectory, ...environment },
      encoding: "utf8",
    });
    t.equal(status, exitCode, `${what}: exit code`);
    t.notMatch(stderr, /ERROR|runtime error/, `${what}: nothing to report`);
  }
});

for (const [what, file] of [
  ["operator commands", "test/operator/operator-json.test.ts"],
  ["install, which starts other programs", "test/operator/install/install.test.ts"],
  ["the loop of the agent", "test/operator/agent/agent.test.ts"],
] as const) {
  test(`nor have the functions for ${what}: ${file} passes`, async (t) => {
    const environment = { HOST_LOCAL_BIN: executable, HOST_LOCAL_EXTENT: "short" };
    const [result] = await runTestFiles([inRepository(file)], environment);
    t.match(result, { failed: 0, report: "" });
    t.ok(Number(result?.passed) > 0);
  });
}
