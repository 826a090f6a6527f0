/** going-back.ts: where the networks of the node would not work any more without this plugin. */

import { test } from "tap";
import { CommandError, type Context } from "../../../src/cli/command/command.ts";
import { requireGoingBack, requireLeaving } from "../../../src/operator/install/going-back.ts";
import { contextOf, memoryNode, startOperator } from "../memory-node.ts";

const subnet = { subnet: "10.1.2.0/24" };

const reserved =
  "has reserved: reserved addresses are handed out to anybody, and a pod gets another than its own";
const exclude = "has exclude: excluded addresses are handed out";
const partition = "has partition: ADD and DEL fail";
const small = "has a subnet of one or two addresses: ADD and DEL fail";

/** What a configuration has, and what is said of it. */
const breaking: Readonly<Record<string, readonly [network: object, words: string]>> = {
  gcOnly: [
    { gcOnly: true, ipam: subnet },
    "has gcOnly: every ADD fails, and leaves an address reserved",
  ],
  partition: [
    { ipam: { partition: { subnetFile: "/run/flannel/subnet.env", ranges: [[subnet]] } } },
    partition,
  ],
  rangesFile: [{ ipam: { rangesFile: "/etc/ranges.json" } }, "has rangesFile: ADD and DEL fail"],
  exclude: [{ ipam: { ...subnet, exclude: ["10.1.2.9"] } }, exclude],
  reserved: [{ ipam: { ...subnet, reserved: { "10.1.2.9": null } } }, reserved],
  requested: [
    { ipam: { ...subnet, requested: { by: ["example.com/ip"] } } },
    "has requested: a pod gets another address than it requests by a name",
  ],
  "a /31": [{ ipam: { ranges: [[{ subnet: "10.1.2.0/31" }]] } }, small],
  "gateway none": [
    { ipam: { ...subnet, gateway: "none" } },
    'has gateway "none": ADD and DEL fail',
  ],
  repeatedAdd: [
    { ipam: { ...subnet, repeatedAdd: "same" } },
    "has repeatedAdd: a repeated ADD fails",
  ],
  // What cannot be read wholly hides no key.
  "exclude beside Calico's usePodCidr": [
    { type: "calico", ipam: { subnet: "usePodCidr", exclude: ["10.1.2.9"] } },
    exclude,
  ],
  "reserved beside Calico's usePodCidr in ranges": [
    {
      type: "calico",
      ipam: { ranges: [[{ subnet: "usePodCidr" }]], reserved: { "10.1.2.9": null } },
    },
    reserved,
  ],
  "a /31 beside an invalid range": [
    { ipam: { ranges: [[{ subnet: "10.1.2.0/33" }, { subnet: "10.1.3.0/31" }]] } },
    small,
  ],
  "partition with ranges that are no list": [
    { ipam: { ranges: 5, partition: { subnetFile: 5 } } },
    partition,
  ],
  "exclude in a version that is not known": [
    { cniVersion: "9.0.0", ipam: { ...subnet, exclude: ["10.1.2.9"] } },
    exclude,
  ],
};

/** The arguments of `install` on a node whose files of configurations have these texts. */
function nodeWith(text: string, options = {}, other = textOf({})): Context {
  const machine = memoryNode({});
  machine.disk.put("/conf/net.conf", text);
  machine.disk.put("/conf/other.conf", other);
  return contextOf(startOperator(machine).system, { "--conf-dir": "/conf", ...options });
}

function textOf({ ipam, ...rest }: { readonly ipam?: object }): string {
  const document = { cniVersion: "1.0.0", name: "mynet", type: "bridge", ...rest };
  const section = ipam === undefined ? {} : { ipam: { type: "host-local", ...ipam } };
  return JSON.stringify({ ...document, ...section });
}

/** What is said where something is refused. */
function refusalOf(change: () => string): readonly string[] {
  try {
    return [`not refused: ${change()}`];
  } catch (error) {
    if (error instanceof CommandError) return [error.message, ...error.lines];
    throw error;
  }
}

const FORCE = { "--force": "" };

for (const [name, [network, words]] of Object.entries(breaking)) {
  test(`going back is refused where a configuration has ${name}`, async (t) => {
    const text = textOf(network);
    const line = `/conf/net.conf (network mynet) ${words}`;
    t.same(
      refusalOf(() => requireGoingBack(nodeWith(text), "host-local")),
      [
        "install: the Go plugin does not understand the configurations of this node; nothing was changed. Correct them, or add --force:",
        `  ${line}`,
      ],
    );
    t.equal(requireGoingBack(nodeWith(text, FORCE), "host-local"), `${line}.`);
  });
}

for (const name of ["host-local", "static"]) {
  test(`leaving no ${name} is refused where a configuration names it`, async (t) => {
    const text = textOf({ ipam: { type: name } });
    t.same(
      refusalOf(() => requireLeaving(nodeWith(text), name)),
      [
        `install: there is no other ${name} to restore, and configurations of this node name it; nothing was changed. Change them, or add --force:`,
        "  /conf/net.conf (network mynet)",
      ],
    );
    t.match(requireLeaving(nodeWith(text, FORCE), name), `There is no other ${name} to restore: `);
  });
}

test("a configuration that cannot be read may have such keys, and may name the plugin", async (t) => {
  const node = () => nodeWith("{", {}, textOf({ ipam: subnet }));
  t.match(refusalOf(() => requireGoingBack(node(), "host-local")).slice(1), [
    "  /conf/net.conf may have such keys: invalid JSON at ",
  ]);
  t.match(refusalOf(() => requireLeaving(node(), "host-local")).slice(1), [
    "  /conf/other.conf (network mynet)",
    "  /conf/net.conf may name it: invalid JSON at ",
  ]);
});

test("keys that merely have no effect are named", async (t) => {
  const ipam = { ...subnet, history: true, sticky: "pod", exhaustedStatus: "ready" };
  t.equal(
    requireGoingBack(nodeWith(textOf({ ipam })), "host-local"),
    "history, sticky will have no effect.",
  );
});

test("what the Go plugin understands, or is for other plugins, is not mentioned", async (t) => {
  for (const network of [
    { ipam: { ...subnet, exclude: [], reuseDelaySeconds: 0, reclaim: "never" } },
    { ipam: { subnet: "10.1.2.0/30" } },
    { gcOnly: true, ipam: { type: "host-local-ts", ...subnet } },
  ]) {
    t.equal(requireGoingBack(nodeWith(textOf(network)), "host-local"), "");
  }
});
