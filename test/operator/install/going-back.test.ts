// test: native executable
/** install --uninstall where the networks of the node would not work any more. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { tool } from "../../harness/tool.ts";
import {
  directoryWithOther,
  isExecutable,
  OTHER,
  type PluginDirectory,
  thisProgram,
} from "./plugin-directory.ts";

const subnet = { subnet: "10.1.2.0/24" };

/** What a configuration has, and what is said of it. */
const breaking: Readonly<Record<string, readonly [network: object, words: string]>> = {
  gcOnly: [
    { gcOnly: true, ipam: subnet },
    "has gcOnly: every ADD fails, and leaves an address reserved",
  ],
  partition: [
    { ipam: { partition: { subnetFile: "/run/flannel/subnet.env", ranges: [[subnet]] } } },
    "has partition: ADD and DEL fail",
  ],
  rangesFile: [{ ipam: { rangesFile: "/etc/ranges.json" } }, "has rangesFile: ADD and DEL fail"],
  exclude: [
    { ipam: { ...subnet, exclude: ["10.1.2.9"] } },
    "has exclude: excluded addresses are handed out",
  ],
  reserved: [
    { ipam: { ...subnet, reserved: { "10.1.2.9": null } } },
    "has reserved: reserved addresses are handed out to anybody, and a pod gets another than its own",
  ],
  "a /31": [
    { ipam: { ranges: [[{ subnet: "10.1.2.0/31" }]] } },
    "has a subnet of one or two addresses: ADD and DEL fail",
  ],
  "gateway none": [
    { ipam: { ...subnet, gateway: "none" } },
    'has gateway "none": ADD and DEL fail',
  ],
  repeatedAdd: [
    { ipam: { ...subnet, repeatedAdd: "same" } },
    "has repeatedAdd: a repeated ADD fails",
  ],
};

/** Configurations that cannot be read wholly, with a key that the Go plugin does not understand. */
const partlyRead: Readonly<Record<string, readonly [network: object, words: string]>> = {
  "exclude beside Calico's usePodCidr": [
    { type: "calico", ipam: { subnet: "usePodCidr", exclude: ["10.1.2.9"] } },
    "has exclude: excluded addresses are handed out",
  ],
  "reserved beside Calico's usePodCidr in ranges": [
    {
      type: "calico",
      ipam: { ranges: [[{ subnet: "usePodCidr" }]], reserved: { "10.1.2.9": null } },
    },
    "has reserved: reserved addresses are handed out to anybody, and a pod gets another than its own",
  ],
  "a /31 beside an invalid range": [
    { ipam: { ranges: [[{ subnet: "10.1.2.0/33" }, { subnet: "10.1.3.0/31" }]] } },
    "has a subnet of one or two addresses: ADD and DEL fail",
  ],
  "partition with ranges that are no list": [
    { ipam: { ranges: 5, partition: { subnetFile: 5 } } },
    "has partition: ADD and DEL fail",
  ],
  "exclude in a version that is not known": [
    { cniVersion: "9.0.0", ipam: { ...subnet, exclude: ["10.1.2.9"] } },
    "has exclude: excluded addresses are handed out",
  ],
};

/** A directory in which the plugin has replaced another one, on a node with one network. */
function nodeWith(t: Test, network: object) {
  const directory = directoryWithOther(t);
  t.equal(directory.install("--yes")[0], 0);
  const configurations = scratchDirectory(t);
  const source = join(configurations, "10-mynet.conf");
  const { ipam, ...rest } = network as { readonly ipam: object };
  const document = { cniVersion: "1.0.0", name: "mynet", type: "bridge", ...rest };
  writeFileSync(source, JSON.stringify({ ...document, ipam: { type: "host-local", ...ipam } }));
  const install = (...options: readonly string[]) =>
    tool(["install", directory.path, ...options], { environment: { NETCONFPATH: configurations } });
  return { directory, source, install };
}

function isInstalled({ target }: PluginDirectory): boolean {
  return isExecutable(target);
}

for (const [name, [network, words]] of Object.entries({ ...breaking, ...partlyRead })) {
  test(`going back is refused where a configuration has ${name}`, async (t) => {
    const { directory, source, install } = nodeWith(t, network);
    const line = `  ${source} (network mynet) ${words}\n`;

    const refused = install("--uninstall", "--yes");
    t.equal(refused.exitCode, 2);
    t.equal(
      refused.stderr,
      `host-local: install: the Go plugin does not understand the configurations of this node; nothing was changed. Correct them, or add --force:\n${line}`,
    );
    t.ok(isInstalled(directory));
    const plan = install("--uninstall", "--force");
    t.equal(plan.exitCode, 1);
    t.ok(plan.stdout.startsWith(`${line.trim()}.`), plan.stdout);
    t.equal(install("--uninstall", "--yes", "--force").exitCode, 0);
    t.notOk(isInstalled(directory));
  });
}

for (const [name, network] of [
  ["host-local", { ipam: subnet }],
  ["static", { ipam: { type: "static", addresses: [] } }],
] as const) {
  test(`a removal that leaves no ${name} is refused where a configuration names it`, async (t) => {
    const { directory, source, install } = nodeWith(t, network);
    install("--as", name, "--yes");
    rmSync(directory.previous);

    t.match(install("--as", name, "--uninstall", "--yes"), {
      exitCode: 2,
      stderr: `host-local: install: there is no other ${name} to restore, and configurations of this node name it; nothing was changed. Change them, or add --force:\n  ${source} (network mynet)\n`,
    });
    t.ok(isExecutable(join(directory.path, name)));
    t.match(install("--as", name, "--uninstall", "--yes", "--force"), { exitCode: 0, stderr: "" });
    t.notOk(directory.names.includes(name));
  });
}

test("where another plugin has taken its place, this one is not given up while a network needs it", async (t) => {
  const { directory, install } = nodeWith(t, { ipam: { ...subnet, exclude: ["10.1.2.9"] } });
  rmSync(directory.target);
  directory.put("host-local", OTHER);

  t.match(install("--uninstall", "--yes"), { exitCode: 2, stderr: / has exclude: / });

  t.equal(install("--if-replaced", "--yes").exitCode, 0);
  t.ok(isInstalled(directory));
});

test("a former version of this program understands them", async (t) => {
  const { directory, install } = nodeWith(t, { ipam: { ...subnet, exclude: ["10.1.2.9"] } });
  directory.put("host-local.previous", thisProgram("v0.9.0"));

  t.match(install("--uninstall", "--yes"), { exitCode: 0, stderr: "" });
});

test("a configuration that cannot be read may have such keys, and may name the plugin", (t) => {
  const { directory, source, install } = nodeWith(t, { ipam: subnet });
  writeFileSync(source, "{");

  const [former, none] = [install("--uninstall", "--yes"), withoutFormer()];
  t.equal(former.exitCode, 2);
  t.match(former.stderr, `add --force:\n  ${source} may have such keys: invalid JSON: `);
  t.equal(none.exitCode, 2);
  t.match(none.stderr, `add --force:\n  ${source} may name it: invalid JSON: `);
  t.ok(isInstalled(directory));
  t.end();

  function withoutFormer() {
    rmSync(directory.previous);
    return install("--uninstall", "--yes");
  }
});

test("keys that merely have no effect are named", async (t) => {
  const ipam = { ...subnet, history: true, sticky: "pod", exhaustedStatus: "ready" };
  const { directory, install } = nodeWith(t, { ipam });

  t.match(install("--uninstall").stdout, /^history, sticky will have no effect\. /);
  t.match(install("--uninstall", "--yes"), { exitCode: 0, stderr: "" });
  t.notOk(isInstalled(directory));
});

test("what the Go plugin understands, and configurations of other plugins, are nothing to speak of", async (t) => {
  for (const network of [
    { ipam: { ...subnet, exclude: [], reuseDelaySeconds: 0, reclaim: "never" } },
    { gcOnly: true, ipam: { type: "host-local-ts", ...subnet } },
  ]) {
    t.match(nodeWith(t, network).install("--uninstall", "--yes"), {
      exitCode: 0,
      stdout: /^Restored /,
      stderr: "",
    });
  }
});
