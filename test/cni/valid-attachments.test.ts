import { test } from "tap";
import { type NetworkConfiguration, receiveCall } from "../../src/cni/call.ts";
import type { Json } from "../../src/cni/json.ts";
import { validAttachments } from "../../src/cni/valid-attachments.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { refusalOf } from "./refusal.ts";

const key = "cni.dev/valid-attachments";
const olderKey = "cni.dev/attachments";

/** The configuration of a GC call with these members. */
function configuration(members: Readonly<Record<string, Json>>): NetworkConfiguration {
  const call = receiveCall(
    new MemoryMachine().start({
      environment: { CNI_COMMAND: "GC", CNI_PATH: "/opt/cni/bin" },
      stdin: JSON.stringify({ cniVersion: "1.1.0", name: "net", ...members }),
    }),
  );
  if (call.verb !== "GC") throw new Error(`received ${call.verb}`);
  return call.network;
}

const c1 = { containerID: "c1", ifname: "eth0" };
const c2 = { containerID: "c2", ifname: "net1" };

test("the older key counts only without the newer one; [] makes nothing valid, null is no list", async (t) => {
  t.match(validAttachments(configuration({ [olderKey]: [c1] })), [{ containerId: "c1" }]);
  t.match(validAttachments(configuration({ [olderKey]: [c1], [key]: [c2] })), [
    { containerId: "c2" },
  ]);
  t.equal(validAttachments(configuration({ [olderKey]: [c1], [key]: null })), undefined);
  t.strictSame(validAttachments(configuration({ [olderKey]: [c1], [key]: [] })), []);
  t.strictSame(validAttachments(configuration({ [olderKey]: [] })), []);
  t.equal(validAttachments(configuration({ [olderKey]: null })), undefined);
});

test("a malformed list is error 7, since using it could release addresses in use", async (t) => {
  const lists: readonly Json[] = [
    ...[5, "c1", true, {}, c1],
    ...[[5], ["c1"], [null], [[c1]], [{}]],
    ...[[{ containerID: "c1" }], [{ ifname: "eth0" }]],
    [{ containerID: "", ifname: "eth0" }],
    [{ containerID: "c1", ifname: "" }],
    [{ containerID: "c1", ifname: null }],
    [{ containerID: 5, ifname: "eth0" }],
    [{ containerID: "c1", ifname: ["eth0"] }],
    [c1, {}],
  ];
  for (const list of lists) {
    for (const name of [key, olderKey]) {
      const refusal = refusalOf(() => validAttachments(configuration({ [name]: list })));
      t.strictSame(
        [refusal.code, refusal.message],
        [7, "invalid list of valid attachments"],
        `${name}: ${JSON.stringify(list)}`,
      );
      t.match(refusal.details, name, "the place is named");
    }
  }
});
