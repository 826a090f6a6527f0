/** A network configuration as it arrives on standard input. */

import { type NetworkConfiguration, receiveCall } from "../../src/cni/call.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";

/** For configurations that name no file. */
export const noFiles = {
  readFile(path: string): string {
    throw new Error(`${path} was read`);
  },
  list(path: string): readonly string[] {
    throw new Error(`${path} was read`);
  },
};

/** The configuration with these members, named `net` and of version 1.1.0 where they do not say otherwise. */
export function received(members: object): NetworkConfiguration {
  const stdin = JSON.stringify({ cniVersion: "1.1.0", name: "net", ...members });
  const call = receiveCall(
    new MemoryMachine().start({
      environment: {
        CNI_COMMAND: "DEL",
        CNI_CONTAINERID: "c1",
        CNI_IFNAME: "eth0",
        CNI_PATH: "/opt/cni/bin",
      },
      stdin,
    }),
  );
  if (call.verb !== "DEL") throw new Error(`received ${call.verb}`);
  return call.network;
}
