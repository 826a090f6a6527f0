/** What makes one plugin different from another; all of them speak the same protocol. */

import type { System } from "../system/system.ts";
import type { AttachmentCall, NetworkCall } from "./call.ts";

/** An IPAM plugin: what each verb does, after the call was read and checked. */
export interface Plugin {
  /** The name that configurations and main plugins call it by. */
  readonly name: string;
  /** What it says of itself besides its version and those of the specification: lines that end in `\n`. */
  readonly hint: string;
  readonly add: (system: System, call: AttachmentCall) => void;
  readonly del: (system: System, call: AttachmentCall) => void;
  readonly check: (system: System, call: AttachmentCall) => void;
  readonly gc: (system: System, call: NetworkCall) => void;
  readonly status: (system: System, call: NetworkCall) => void;
}
