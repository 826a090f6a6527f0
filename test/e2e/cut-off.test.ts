// test: native executable, makes namespaces, mounts
/**
 * Living pods that are cut off from the bridge of their network, with the `bridge` plugin: which pods these are, and how to
 * connect them; and a wrong gateway.
 */

import { execFileSync } from "node:child_process";
import { type AddedPod, add, configure, end, findings } from "./bridge-node.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["bridge"], cniVersion: "1.0.0" };
const GATEWAY = "10.219.7.1";
const ranges = [[{ subnet: "10.219.7.0/28" }]];

function run(...lines: readonly string[]): void {
  for (const line of lines) execFileSync("sh", ["-c", line], { stdio: "pipe" });
}

/** The port of a pod on the bridge. */
function portOf({ hostInterfaces: [, port = ""] }: AddedPod): string {
  return port;
}

/**
 * For each change of the node with the pods web and db: which pods are cut off then, why, and the commands that connect them;
 * without commands they are restarted.
 */
const cases: Readonly<
  Record<
    string,
    readonly [
      spoil: (web: AddedPod) => readonly string[],
      pods: readonly string[],
      why: RegExp,
      commands: readonly string[],
    ]
  >
> = {
  "is as it was": [() => [], [], /./, []],
  "was deleted": [
    () => ["ip link delete cni0"],
    ["web", "db"],
    /cut off from cni0: its interface \(veth[0-9a-f]+\) is at no bridge$/,
    [],
  ],
  "is down": [
    () => ["ip link set cni0 down"],
    ["web", "db"],
    /cut off from cni0: cni0 is down$/,
    ["ip link set dev cni0 up"],
  ],
  "lacks a port that was deleted": [
    (web) => [`ip link delete ${portOf(web)}`],
    ["web"],
    /it has no interface that leads to the node$/,
    [],
  ],
  "lacks a port that was taken out of it": [
    (web) => [`ip link set ${portOf(web)} nomaster`],
    ["web"],
    /its interface \(veth[0-9a-f]+\) is at no bridge$/,
    [],
  ],
  "was renamed, and made again for another pod": [
    () => ["ip link set cni0 down", "ip link set cni0 name old0", "ip link add cni0 type bridge"],
    ["web", "db"],
    /its interface \(veth[0-9a-f]+\) is at old0$/,
    [],
  ],
};

for (const [what, [spoil, pods, why, commands]] of Object.entries(cases)) {
  const effect = pods.length === 0 ? "nothing" : `${pods.join(" and ")} cut off`;
  scenario(`a bridge that ${what}: ${effect}`, needs, (t, host) => {
    const network = configure({ ranges });
    const web = add(host, network, "web");
    const db = add(host, network, "db");
    run(...spoil(web));

    const found = findings().filter(({ code }) => code === "pods-cut-off");
    t.equal(found.length, pods.length);
    const living = found.map(({ message }) => /^default\/(\w+) \(container/.exec(message)?.[1]);
    t.same(new Set(living), new Set(pods));
    for (const { message, severity } of found) {
      t.match(message, why);
      t.equal(severity, "error");
    }
    t.same([...new Set(found.flatMap((finding) => finding.commands))], commands);

    run(...commands);
    for (const added of [web, db]) {
      const isCutOff = commands.length === 0 && living.includes(added.pod.containerId);
      const { containerId } = added.pod;
      t.equal(
        added.pod.reaches(GATEWAY, isCutOff ? 1 : undefined),
        !isCutOff,
        `${containerId} reaches its gateway`,
      );
      if (!isCutOff) continue;
      end(host, network, added);
      t.ok(add(host, network, `${added.pod.containerId}-again`).pod.reaches(GATEWAY));
    }
    t.same(
      findings().filter(({ severity }) => severity === "error"),
      [],
    );
  });
}

scenario("a pod of another link is not at the bridge by right", needs, (t, host) => {
  const bridge = add(host, configure({ ranges }, { isGateway: true, bridge: "former0" }), "before");
  add(host, configure({ ranges }), "after");
  t.same(
    findings().filter(({ code }) => code === "pods-cut-off"),
    [],
    "a bridge with another name in the configuration is no bridge that was renamed",
  );
  t.ok(bridge.pod.netns);
});

scenario("a wrong address in place of the gateway goes once nobody is there", needs, (t, host) => {
  const ofBridge = () => findings().filter(({ code }) => code.startsWith("bridge-"));
  const network = configure({ ranges });
  const pod = add(host, network, "pod");
  for (const words of ["del 10.219.7.1/28", "add 10.219.7.14/28", "add 10.219.7.13/28"])
    run(`ip addr ${words} dev cni0`);
  const failing = new Pod("failing");
  t.throws(() => host.runtime.add(network, failing), /already has an IP address different from/);
  host.runtime.del(network, failing);
  failing.remove();

  const [wrong, lost] = ofBridge();
  t.match(wrong, { code: "bridge-address", message: / at cni0 may need it$/ });
  t.same(wrong?.commands, [], "it is not the pod's by what libcni knows, but it may be");
  t.equal(lost?.code, "bridge-without-address");
  run(...(lost?.commands ?? []));
  t.ok(pod.pod.reaches(GATEWAY));

  run("ip addr del 10.219.7.1/28 dev cni0");
  end(host, network, pod);
  const commands = ofBridge().flatMap((finding) => finding.commands);
  t.equal(commands.length, 2);
  run(...commands);
  t.ok(add(host, network, "next").pod.reaches(GATEWAY));
  t.same(ofBridge(), []);
});
