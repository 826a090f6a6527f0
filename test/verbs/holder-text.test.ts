import { test } from "tap";
import { receiveCall } from "../../src/cni/call.ts";
import { holderText } from "../../src/verbs/holder-text.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";

test("the holder of the lock is described by its verb and attachment, and its trace", (t) => {
  for (const [verb, traceparent, text] of [
    ["ADD", "", "ADD c1 eth0"],
    ["DEL", "", "DEL c1 eth0"],
    ["GC", "", "GC"],
    ["ADD", `00-${trace}-00f067aa0ba902b7-01`, `ADD c1 eth0, trace ${trace}`],
    ["GC", `00-${trace}-00f067aa0ba902b7-01`, `GC, trace ${trace}`],
  ] as const) {
    const process = new MemoryMachine().start({
      environment: {
        CNI_COMMAND: verb,
        CNI_CONTAINERID: "c1",
        CNI_IFNAME: "eth0",
        CNI_NETNS: "/run/netns/pod",
        CNI_PATH: "/opt/cni/bin",
        TRACEPARENT: traceparent,
      },
      stdin: '{"cniVersion": "1.1.0", "name": "net"}',
    });

    t.equal(holderText(process, receiveCall(process)), text);
  }
  t.end();
});
