/** An entry of libcni's cache: one attachment, as libcni writes it. */

import { exactMember, listOf, textOf } from "../../../cli/command/json-values.ts";
import { type Json, parseJson } from "../../../cni/json.ts";
import { formatPod } from "../../../cni/pod.ts";
import { formatAddress } from "../../../ipam/address.ts";
import { parsePrefix } from "../../../ipam/prefix.ts";
import { textOfBase64 } from "./base64.ts";

/** An attachment in libcni's cache; strings are empty if the cache does not have them. */
export interface CachedAttachment {
  readonly network: string;
  readonly containerId: string;
  readonly interfaceName: string;
  /** The path of the network namespace, recorded since libcni 1.3. */
  readonly networkNamespace: string;
  /** The addresses of the result, in their canonical form. */
  readonly addresses: readonly string[];
  /** The gateways of the result. */
  readonly gateways: readonly string[];
  /** The interfaces of the result that are on the node, since CNI 0.3.0: of the `bridge` plugin the bridge and its port. */
  readonly hostInterfaces: readonly string[];
  /**
   * The pod, as `namespace/name` or, from podman, a name alone, if the runtime set it in `CNI_ARGS`; from Nomad the job, which has a
   * namespace, too.
   */
  readonly pod: string;
}

/** The configuration of an entry, which libcni writes in base64; `undefined` if it is invalid. */
export function configurationIn(text: string): Json | undefined {
  try {
    return parseJson(textOfBase64(textOf(exactMember(parsed(text), "config"))));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof URIError) return undefined;
    throw error;
  }
}

/** What an entry says; `undefined` if it is invalid. */
export function attachmentIn(text: string): CachedAttachment | undefined {
  const entry = parsed(text);
  const containerId = textOf(exactMember(entry, "containerId"));
  if (containerId === "") return undefined;
  const result = exactMember(entry, "result");
  return {
    network: textOf(exactMember(entry, "networkName")),
    containerId,
    interfaceName: textOf(exactMember(entry, "ifName")),
    networkNamespace: textOf(exactMember(entry, "netns")),
    addresses: valuesIn(result, "address", "ip")
      .flatMap((text) => parsePrefix(text) ?? [])
      .map(({ address }) => formatAddress(address)),
    gateways: valuesIn(result, "gateway", "gateway").filter((text) => text !== ""),
    hostInterfaces: hostInterfacesIn(result),
    pod: podIn(exactMember(entry, "cniArgs")),
  };
}

/** A JSON text; `undefined` if it is invalid. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** An interface in a container has the path of its network namespace as `sandbox`. */
function hostInterfacesIn(result: unknown): readonly string[] {
  return listOf(exactMember(result, "interfaces"))
    .filter((link) => textOf(exactMember(link, "sandbox")) === "")
    .map((link) => textOf(exactMember(link, "name")));
}

/**
 * What a result of any version has for its addresses: a list of them, or one of each family before 0.3.0.
 *
 * @param name of the member
 * @param oldName of the member before 0.3.0
 */
function valuesIn(result: unknown, name: string, oldName: string): readonly string[] {
  const entries = [
    ...listOf(exactMember(result, "ips")).map((entry) => exactMember(entry, name)),
    exactMember(exactMember(result, "ip4"), oldName),
    exactMember(exactMember(result, "ip6"), oldName),
  ];
  return entries.map(textOf);
}

/** Whether the runtime attached a pod of Kubernetes, and neither podman one of its own nor Nomad a job. */
export function isOfKubernetes(text: string): boolean {
  return argumentOf(exactMember(parsed(text), "cniArgs"), "K8S_POD_NAMESPACE") !== "";
}

/** The pod, or the job of Nomad, which passes it since 1.9.4, of networks of mode `cni/NETWORK` alone. */
function podIn(cniArgs: unknown): string {
  const named = (namespace: string, name: string): string =>
    formatPod({ namespace: argumentOf(cniArgs, namespace), name: argumentOf(cniArgs, name) });
  return named("K8S_POD_NAMESPACE", "K8S_POD_NAME") || named("NOMAD_NAMESPACE", "NOMAD_JOB_ID");
}

/** A value of `CNI_ARGS`, which libcni records as a list of pairs. */
function argumentOf(cniArgs: unknown, key: string): string {
  // multus repeats arguments; the last one counts.
  const pair = listOf(cniArgs).findLast((member) => listOf(member)[0] === key);
  return textOf(listOf(pair)[1]);
}
