import { test } from "tap";
import { receiveCall } from "../../src/cni/call.ts";
import { holderText } from "../../src/verbs/holder-text.ts";
import { MemoryMachine } from "../system/memory-machine.ts";

test("the holder of the lock is described by its verb and attachment", (t) => {
  for (const [verb, text] of [
    ["ADD", "ADD c1 eth0"],
    ["DEL", "DEL c1 eth0"],
    ["GC", "GC"],
  ] as const) {
    const process = new MemoryMachine().start({
      environment: {
        CNI_COMMAND: verb,
        CNI_CONTAINERID: "c1",
        CNI_IFNAME: "eth0",
        CNI_NETNS: "/run/netns/pod",
        CNI_PATH: "/opt/cni/bin",
      },
      stdin: '{"cniVersion": "1.1.0", "name": "net"}',
    });

    t.equal(holderText(receiveCall(process)), text);
  }
  t.end();
});
