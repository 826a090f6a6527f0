// test: each executable, one if short, makes namespaces, mounts
/** A node that has addresses of its own network, and runtimes inside containers with the same range, with the `bridge` plugin. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { tool } from "../harness/tool.ts";
import { add, configure, end, findings } from "./bridge-node.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["bridge"], cniVersion: "1.0.0" };

const ranges = [[{ subnet: "10.219.7.0/29" }]];

function run(line: string): void {
  execFileSync("sh", ["-c", line], { stdio: "pipe" });
}

scenario("the node's own address is named, and what to do with it", needs, (t, host) => {
  const network = configure({ ranges });
  run("ip addr add 10.219.7.2/32 dev lo");
  t.match(findings(), [
    {
      code: "node-address",
      severity: "error",
      message: "the node itself has 10.219.7.2 (lo), and ADD hands it out",
    },
  ]);
  t.match(tool(["show", "10.219.7.2"]).stdout, "but the node itself has it");

  const web = add(host, network, "web");
  t.equal(web.address, "10.219.7.2", "it does");
  const [finding, ...others] = findings();
  t.same(others, []);
  t.match(finding, {
    code: "node-address",
    message: "the node itself has 10.219.7.2 (lo), and default/web (container web) holds it",
    remedy: 'exclude it ("exclude": ["10.219.7.2"] in ipam), then restart this pod',
  });
  t.notMatch(tool(["show", "10.219.7.2"]).stdout, "process 1");

  const corrected = configure({ ranges, exclude: ["10.219.7.2"] });
  end(host, corrected, web);
  const again = add(host, corrected, "again");
  t.not(again.address, "10.219.7.2");
  t.ok(again.pod.reaches("10.219.7.1"));
  t.same(findings(), []);
});

scenario("a network of the node that has the same addresses is named", needs, (t, host) => {
  const network = configure({ ranges });
  add(host, network, "web");
  t.same(findings(), [], "its own bridge is none");
  run("ip link add docker0 type bridge && ip addr add 10.219.7.129/24 dev docker0");
  t.match(findings(), [
    {
      code: "node-network",
      severity: "info",
      message:
        "the subnet 10.219.7.0/29 shares addresses with 10.219.7.0/24 of docker0 (10.219.7.129)",
    },
  ]);
  t.equal(findings().length, 1);
});

scenario("a runtime inside a container has the same range by right", needs, async (t, host) => {
  const network = configure({ ranges });
  const web = add(host, network, "web");
  const inner =
    "ip link set lo up && ip addr add 10.219.7.1/29 dev lo && unshare --net sh -c 'ip link set lo up && ip addr add 10.219.7.2/29 dev lo && echo ready && exec cat'; true";
  const nested = spawn("unshare", ["--net", "sh", "-c", inner], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(nested.stdout, "data");

  const [finding, ...others] = findings();
  t.same(others, []);
  t.match(finding, {
    code: "address-in-use-twice",
    severity: "warning",
    remedy: /^none if a runtime inside a container/,
  });
  t.match(finding?.message, `started inside a container by sh (process ${nested.pid})`);
  t.match(finding?.message, `${web.pod.netns}, without a process`);

  nested.stdin.end();
  await once(nested, "exit");
  t.same(findings(), []);
});
