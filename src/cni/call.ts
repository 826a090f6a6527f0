/** Reads a call from the environment and standard input, and checks it. */

import { isSystemError, type System } from "../system/system.ts";
import {
  type Attachment,
  isIdentifier,
  parseContainerId,
  parseInterfaceName,
} from "./attachment.ts";
import { CniError, ErrorCode } from "./error.ts";
import {
  isObject,
  type Json,
  kindOf,
  type Located,
  memberOrNullInAnyCase,
  parseJson,
} from "./json.ts";
import { syntaxErrorInBytes } from "./json-syntax.ts";
import { requireAllowed, requireSupported, type SpecVersion } from "./version.ts";

/** A network name that was checked: it names a directory and cannot leave it. */
export type NetworkName = string & { readonly proof: "network name" };

/** The network configuration on standard input; only its name and version are checked here. */
export interface NetworkConfiguration {
  readonly name: NetworkName;
  readonly version: SpecVersion;
  /** `cniVersion` as written; empty where it was absent. */
  readonly versionText: string;
  /** The whole document. */
  readonly document: Located;
}

/** A call for one attachment. */
export interface AttachmentCall {
  readonly verb: "ADD" | "DEL" | "CHECK";
  readonly network: NetworkConfiguration;
  readonly attachment: Attachment;
  /** `CNI_NETNS`; may be empty for DEL. */
  readonly networkNamespace: string;
  /** `CNI_ARGS`, unparsed. */
  readonly arguments: string;
}

/** A call for a whole network. */
export interface NetworkCall {
  readonly verb: "GC" | "STATUS";
  readonly network: NetworkConfiguration;
}

/** A call of the plugin; `about` where CNI_COMMAND is not set. */
export type CniCall =
  | { readonly verb: "about" }
  | { readonly verb: "VERSION" }
  | AttachmentCall
  | NetworkCall;

/** A larger configuration is refused, in bytes. */
const LARGEST_CONFIGURATION = 64 * 1024 * 1024;

/** How long to wait for the end of standard input, in seconds; without a limit the call might never end. */
const INPUT_TIMEOUT_SECONDS = 60;

/**
 * Reads the call, in the order that the Go plugin's `skel` makes observable: environment, standard input, network
 * name, command, version.
 *
 * @throws CniError 4 environment, 5 standard input, 6 not JSON, 7 network name, 1 version
 */
export function receiveCall(system: System): CniCall {
  const command = system.environment("CNI_COMMAND") ?? "";
  switch (command) {
    case "":
      return { verb: "about" };
    case "VERSION":
      return { verb: "VERSION" };
    case "ADD":
    case "DEL":
    case "CHECK":
      return receiveAttachmentCall(system, command);
    case "GC":
    case "STATUS":
      if (!system.environment("CNI_PATH")) throw missingVariables(["CNI_PATH"]);
      return {
        verb: command,
        network: networkConfiguration(readDocument(system), (text) =>
          requireAllowed(command, text),
        ),
      };
    default:
      networkName(readDocument(system));
      throw new CniError(ErrorCode.invalidEnvironment, `unknown CNI_COMMAND: ${command}`);
  }
}

/** An invalid variable is reported at once, those that are missing together; so an invalid one is reported first. */
function receiveAttachmentCall(system: System, verb: AttachmentCall["verb"]): AttachmentCall {
  const missing: string[] = [];
  const read = <T>(variable: string, parse: (text: string) => T): T | undefined => {
    const text = system.environment(variable) ?? "";
    if (text !== "") return parse(text);
    missing.push(variable);
    return undefined;
  };
  const containerId = read("CNI_CONTAINERID", parseContainerId);
  if (verb !== "DEL") read("CNI_NETNS", String);
  const interfaceName = read("CNI_IFNAME", parseInterfaceName);
  read("CNI_PATH", String);
  if (containerId === undefined || interfaceName === undefined || missing.length > 0) {
    throw missingVariables(missing);
  }
  const network = networkConfiguration(readDocument(system), (text) =>
    verb === "CHECK" ? requireAllowed(verb, text) : requireSupported(text),
  );
  return {
    verb,
    network,
    attachment: { containerId, interfaceName },
    networkNamespace: system.environment("CNI_NETNS") ?? "",
    arguments: system.environment("CNI_ARGS") ?? "",
  };
}

function missingVariables(names: readonly string[]): CniError {
  return new CniError(
    ErrorCode.invalidEnvironment,
    `required env variables [${names.join(",")}] missing`,
  );
}

/**
 * Checks the name and version of a configuration from a file, as ADD does.
 *
 * @throws CniError 6 not an object, 7 network name, 1 version
 */
export function configurationOf(value: Json): NetworkConfiguration {
  return networkConfiguration({ value, path: "" }, requireSupported);
}

function readDocument(system: System): Located {
  let text: string;
  try {
    text = system.readStandardInput(LARGEST_CONFIGURATION, INPUT_TIMEOUT_SECONDS * 1000);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CniError(
      ErrorCode.ioFailure,
      `error reading from stdin: ${error.message}`,
      `expected the network configuration, a JSON object of at most ${LARGEST_CONFIGURATION} bytes, on standard input, which must end within ${INPUT_TIMEOUT_SECONDS} s`,
    );
  }
  try {
    return { value: parseJson(text), path: "" };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // U+FFFD may stand for a byte that is not UTF-8, which Go names.
    const isInexact = text.includes("\ufffd");
    throw notAConfiguration(
      isInexact ? syntaxErrorInBytes(system.standardInputBytes()) : error.message,
    );
  }
}

function networkName(document: Located): NetworkName {
  const { value } = document;
  if (value === null) throw missingName();
  if (!isObject(value)) {
    throw notAConfiguration(
      `json: cannot unmarshal ${kindOf(value)} into Go value of type struct { Name string "json:\\"name\\"" }`,
    );
  }
  const name = topLevelString(document, "name", notAConfiguration);
  if (name === "") throw missingName();
  if (!isIdentifier(name)) {
    throw new CniError(
      ErrorCode.invalidNetworkConfig,
      "invalid characters found in network name",
      name,
    );
  }
  return name as NetworkName;
}

function networkConfiguration(
  document: Located,
  checkVersion: (versionText: string) => SpecVersion,
): NetworkConfiguration {
  const name = networkName(document);
  const versionText = topLevelString(
    document,
    "cniVersion",
    (reason) =>
      new CniError(ErrorCode.decodingFailure, `decoding version from network config: ${reason}`),
  );
  return { name, version: checkVersion(versionText), versionText, document };
}

function topLevelString(
  document: Located,
  key: string,
  refuse: (reason: string) => CniError,
): string {
  const value = memberOrNullInAnyCase(document, key)?.value ?? "";
  if (typeof value !== "string") {
    throw refuse(
      `json: cannot unmarshal ${kindOf(value)} into Go struct field .${key} of type string`,
    );
  }
  return value.toWellFormed();
}

function notAConfiguration(reason: string): CniError {
  return new CniError(ErrorCode.decodingFailure, `error unmarshall network config: ${reason}`);
}

function missingName(): CniError {
  return new CniError(ErrorCode.invalidNetworkConfig, "missing network name");
}
