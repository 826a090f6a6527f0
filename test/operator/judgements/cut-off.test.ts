/** What keeps a pod from its bridge, by the links of the node: a table of facts. */

import { test } from "tap";
import { readLinks } from "../../../src/operator/facts/links.ts";
import { type CutOff, cutOffFrom } from "../../../src/operator/judgements/cut-off.ts";
import { type LinkFacts, linksText } from "../../harness/network-links.ts";

const bridge = { kind: "bridge" };
const port = { kind: "veth", master: "cni0", otherEnd: 7 };

function textOf(cutOff: CutOff | undefined): string {
  switch (cutOff?.kind) {
    case undefined:
      return "at its bridge";
    case "down":
      return `down: ${cutOff.link.name}`;
    case "elsewhere":
      return `${cutOff.end.name} at ${cutOff.bridge.name}`;
    case "apart":
      return `apart: ${cutOff.end?.name ?? "nothing"}`;
  }
}

const cases: Readonly<Record<string, readonly [Readonly<Record<string, LinkFacts>>, string]>> = {
  "a port that is down": [{ cni0: bridge, veth7: { ...port, isDown: true } }, "down: veth7"],
  "a port out of the bridge, and one of another network in it": [
    { cni0: bridge, veth7: { kind: "veth", otherEnd: 7 }, veth9: port },
    "apart: veth7",
  ],
  "a port of the bridge that got another name": [{ cni0: bridge, renamed: port }, "at its bridge"],
  "a bridge with another name": [
    { old0: bridge, veth7: { ...port, master: "old0" } },
    "veth7 at old0",
  ],
};

for (const [what, [links, expected]] of Object.entries(cases)) {
  test(`a pod with ${what}: ${expected}`, async (t) => {
    const read = readLinks({ networkLinks: () => linksText(links) }) ?? new Map();
    t.equal(textOf(cutOffFrom(read, "cni0", ["cni0", "veth7"], 7)), expected);
  });
}
