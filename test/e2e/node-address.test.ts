// test: native executable, makes namespaces, mounts
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
  const web = add(host, network, "web");
  run(`ip addr add ${web.address}/32 dev lo`);
  const [finding, ...others] = findings();
  t.same(others, []);
  t.match(finding, {
    code: "node-address",
    severity: "error",
    message: "the node itself has 10.219.7.2 (lo), and default/web (container web) holds it",
    remedy: 'exclude it ("exclude": ["10.219.7.2"] in ipam), then restart this pod',
  });
  t.notMatch(tool(["show", "10.219.7.2"]).stdout, "process 1");

  end(host, network, web);
  t.match(findings(), [
    {
      code: "node-address",
      severity: "warning",
      message:
        "the node itself has 10.219.7.2 (lo), and it is one of the range: ADD passes over it, but the Go plugin would hand it out",
    },
  ]);
  t.match(tool(["show", "10.219.7.2"]).stdout, "but the node itself has it");
  const all = ["a", "b", "c", "d"].map((name) => add(host, network, name));
  t.notOk(
    all.some(({ address }) => address === "10.219.7.2"),
    "it does",
  );
  t.ok(all[0]?.pod.reaches("10.219.7.1"));

  configure({ ranges, exclude: ["10.219.7.2"] });
  t.same(
    findings().map(({ code }) => code),
    ["range-full"],
  );
});

scenario("a network of the node that has the same addresses is named", needs, (t, host) => {
  const network = configure({ ranges });
  add(host, network, "web");
  t.same(findings(), [], "its own bridge is none");
  run("ip link add docker0 type bridge && ip addr add 10.219.7.6/30 dev docker0");
  const message = "the subnet 10.219.7.0/29 shares addresses with 10.219.7.4/30 of docker0";
  const found = findings().filter(({ code }) => code === "node-network");
  t.match(found, [{ severity: "warning", message }]);
});

scenario("a router in the LAN of the pods is named until it is excluded", needs, (t) => {
  const lan = [
    [{ subnet: "10.219.7.0/28", rangeEnd: "10.219.7.6" }],
    [{ subnet: "fd00:219::/124", rangeEnd: "fd00:219::6" }],
  ];
  configure({ ranges: lan }, {});
  run("ip link add cni0 type bridge && ip link set cni0 up");
  run("ip addr add 10.219.7.9/28 dev cni0 && ip addr add fd00:219::9/124 dev cni0 nodad");
  t.same(findings(), []);
  run("ip route add 10.221.0.0/24 via 10.219.7.3 && ip route add 10.222.0.0/24 via 10.219.7.3");
  run("ip route add fd00:221::/48 via fd00:219::3 && ip route add 10.223.0.0/24 via 10.219.7.1");
  const routers = ["10.219.7.3", "fd00:219::3"];
  t.match(
    findings(),
    routers.map((router) => ({
      code: "node-address",
      severity: "warning",
      message: `${router} is a router of the node (cni0), and one of the range: a pod that gets it takes the router from the network`,
      remedy: `exclude it ("exclude": ["${router}"] in ipam)`,
    })),
  );
  configure({ ranges: lan, exclude: routers }, {});
  t.same(findings(), []);
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

  t.same(findings(), []);
  t.match(tool(["gc", "--now", "--grace", "0s"]).stdout, "1 alive");
  t.ok(web.pod.reaches("10.219.7.1"));

  nested.stdin.end();
  await once(nested, "exit");
});
