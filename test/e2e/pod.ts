/** A pod as the network sees it: a network namespace, nothing running in it. */

import { execFileSync } from "node:child_process";
import type { Attachment } from "../harness/runtime-call.ts";
import { NetworkNamespace } from "./network-namespace.ts";

/** A network namespace that is named after its container id. */
export class Pod extends NetworkNamespace implements Attachment {
  readonly containerId: string;

  constructor(containerId: string) {
    execFileSync("ip", ["netns", "add", containerId]);
    super(`/run/netns/${containerId}`);
    this.containerId = containerId;
  }

  /** Removes the namespace. */
  remove(): void {
    execFileSync("ip", ["netns", "delete", this.containerId]);
  }
}
