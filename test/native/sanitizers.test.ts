// test: native executable, slow
/** The C host under the address and undefined-behaviour sanitizers, which also find leaks. */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { join } from "node:path";
import { test } from "tap";
import { buildNative } from "../../scripts/build/native.ts";
import { nodesJson } from "../cluster/node-texts.ts";
import { ownConfigurations } from "../harness/tool.ts";
import { until } from "../harness/until.ts";
import { every, freePort, get, startAgent } from "../operator/agent/running-agent.ts";

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
      ranges: [[{ subnet: "10.0.0.0/30" }], [{ subnet: "2001:db8::/64" }]],
      routes: [{ dst: "0.0.0.0/0" }],
    },
    "cni.dev/valid-attachments": [],
  });

/** In this order on one data directory, so that each call finds what the ones before it left. */
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
      env: environment,
      encoding: "utf8",
    });
    t.equal(status, exitCode, `${what}: exit code`);
    t.notMatch(stderr, /ERROR|runtime error/, `${what}: nothing to report`);
  }
});

test("nor have the functions for operator commands", async (t) => {
  const directory = t.testdir({
    conf: {
      "large.conf": JSON.stringify({
        name: "large",
        ipam: { type: "host-local", ranges: [[{ subnet: "8000::/64" }], [{ subnet: "8000::/1" }]] },
      }),
    },
    data: {},
    bin: {},
    "nodes.json": nodesJson(
      ["node-1", "node-2"].map((name) => ({ name, podCidrs: ["10.244.0.0/24"] })),
    ),
  });
  const place = ["--conf-dir", join(directory, "conf"), "--data-dir", join(directory, "data")];
  const commands: readonly (readonly [readonly string[], number])[] = [
    [["--help"], 0],
    [["list", ...place], 0],
    [["check", ...place], 1],
    [["capacity", ...place], 0],
    [["metrics", ...place], 0],
    [["networks", "--json", ...place], 0],
    [["plan", "--nodes", `${2n ** 64n - 1n}`, "--pods", `${2n ** 63n}`], 1],
    [["networks", ...place], 0],
    [["gc", "--live-command", "echo c1", ...place], 0],
    [["gc", "--live", "/dev/null", ...place], 0],
    [["show", "10.0.0.1", ...place], 1],
    [["plan", "--nodes", "10", "--pods", "100"], 0],
    [["audit", join(directory, "nodes.json")], 1],
    [["install", join(directory, "bin"), "--yes"], 0],
    [["install", join(directory, "bin"), "--if-replaced"], 0],
    [["install", join(directory, "bin"), "--uninstall", "--yes"], 0],
    [["man"], 0],
    [["no-command"], 2],
  ];
  for (const [words, exitCode] of commands) {
    const env = { ...process.env, ...ownConfigurations };
    const { status, stderr } = spawnSync(executable, words, { encoding: "utf8", input: "", env });
    t.equal(status, exitCode, words.join(" "));
    t.notMatch(stderr, /ERROR|runtime error|Assertion/, `${words[0]}: nothing to report`);
  }
});

test("nor has the loop of the agent", async (t) => {
  const directory = t.testdir({ conf: {}, data: {} });
  const place = ["--conf-dir", join(directory, "conf"), "--data-dir", join(directory, "data")];
  const port = await freePort();
  const words = [
    ...["--listen", `127.0.0.1:${port}`],
    ...every("15m", "gc", ...place, "--yes", "--log"),
    ...every("1s", "metrics", ...place),
  ];

  const agent = startAgent(t, words, [], executable);
  await until("metrics", async () => (await get(port, "/metrics"))?.status === 200);
  const idle = Array.from({ length: 20 }, () => net.connect(port, "127.0.0.1"));
  await Promise.all(idle.map((client) => once(client, "connect")));
  t.match(await get(port, `/${"x".repeat(9000)}`), { status: 400 });
  for (const client of idle) client.destroy();
  agent.process.kill("SIGTERM");

  t.equal(await agent.ended, 0);
  t.equal(agent.output().stderr, "");
});
