/** Plugin calls as libcni 1.3 makes them: the same variables, the same standard input. */

import type { Call } from "./executable.ts";
import { ownRuntimeDirectory } from "./runtime-directory.ts";

/** A JSON value, as it appears in a network configuration. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object, as it appears in a network configuration. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** An attachment of a runtime to a network: a container through one of its interfaces. */
export interface Attachment {
  readonly containerId: string;
  /** The interface; `eth0` by default. */
  readonly interfaceName?: string | undefined;
  readonly netns?: string | undefined;
  /** The text of `CNI_ARGS`, such as `IgnoreUnknown=1;IP=192.0.2.3`. */
  readonly cniArgs?: string | undefined;
}

/** A call as a runtime makes it. */
export interface RuntimeCall extends Call {
  readonly stdin: string;
}

/** The variables of a runtime's own environment, which every call gets. */
export const runtimeEnvironment: Readonly<Record<string, string>> = {
  // The home is not the user's own: a shell that a test starts would read its profile.
  HOME: "/nonexistent",
  LANG: "C.UTF-8",
  PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
  ...ownRuntimeDirectory,
};

const pluginPath = "/opt/cni/bin:/usr/lib/cni";

/**
 * Makes the call for one attachment.
 *
 * @param command the value of `CNI_COMMAND`, such as ADD, CHECK or DEL
 * @param attachment what is attached
 * @param configuration the network configuration for standard input
 */
export function attachmentCall(
  command: string,
  attachment: Attachment,
  configuration: object,
): RuntimeCall {
  return {
    environment: {
      ...runtimeEnvironment,
      CNI_COMMAND: command,
      CNI_CONTAINERID: attachment.containerId,
      CNI_NETNS: attachment.netns ?? "/var/run/netns/none-such",
      CNI_ARGS: attachment.cniArgs ?? "",
      CNI_IFNAME: attachment.interfaceName ?? "eth0",
      CNI_PATH: pluginPath,
    },
    stdin: JSON.stringify(configuration),
  };
}

/**
 * Makes the call for a whole network: GC or STATUS, whose other variables are present but empty.
 *
 * @param command the value of `CNI_COMMAND`
 * @param configuration the network configuration for standard input
 */
export function networkCall(command: "GC" | "STATUS", configuration: object): RuntimeCall {
  return {
    environment: {
      ...runtimeEnvironment,
      CNI_COMMAND: command,
      CNI_CONTAINERID: "",
      CNI_NETNS: "",
      CNI_ARGS: "",
      CNI_IFNAME: "",
      CNI_PATH: pluginPath,
    },
    stdin: JSON.stringify(configuration),
  };
}

/** Makes the VERSION call, with libcni's dummies for what the verb does not use. */
export function versionCall(): RuntimeCall {
  return {
    environment: {
      ...runtimeEnvironment,
      CNI_COMMAND: "VERSION",
      CNI_CONTAINERID: "",
      CNI_NETNS: "dummy",
      CNI_ARGS: "",
      CNI_IFNAME: "dummy",
      CNI_PATH: "dummy",
    },
    stdin: '{"cniVersion":"1.1.0"}',
  };
}

/**
 * Makes a network configuration around an `ipam` section, named `net` and of version 1.1.0.
 *
 * @param dataDir the data directory
 * @param ipam the section's members besides `type` and `dataDir`
 * @param rest top-level members, which win over the defaults
 */
export function configuration(
  dataDir: string,
  ipam: JsonObject,
  rest: JsonObject = {},
): JsonObject {
  return {
    cniVersion: "1.1.0",
    ipam: { type: "host-local", dataDir, ...ipam },
    name: "net",
    type: "bridge",
    ...rest,
  };
}
