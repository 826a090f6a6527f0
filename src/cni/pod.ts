/** The pod of a call: what Kubernetes' runtimes and podman tell of it in `CNI_ARGS`. */

import { argumentIn } from "./arguments.ts";
import type { Attachment } from "./attachment.ts";

/** A pod; empty where the caller does not tell. */
export interface Pod {
  /** `K8S_POD_NAMESPACE`; podman passes none, or the container's name. */
  readonly namespace: string;
  /** `K8S_POD_NAME`. */
  readonly name: string;
}

/**
 * Reads the pod of a call, without checking anything else: a DEL works whatever its arguments are.
 *
 * @param text the value of `CNI_ARGS`
 * @example podIn("IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web")
 */
export function podIn(text: string): Pod {
  return {
    namespace: argumentIn("K8S_POD_NAMESPACE", text),
    name: argumentIn("K8S_POD_NAME", text),
  };
}

const SANDBOX = "K8S_POD_INFRA_CONTAINER_ID";

/**
 * Whether a container is the sandbox of a pod, by `K8S_POD_INFRA_CONTAINER_ID`, which containerd and CRI-O pass.
 *
 * @param text the value of `CNI_ARGS`
 */
export function isPodSandbox(
  { containerId }: Pick<Attachment, "containerId">,
  text: string,
): boolean {
  // This finds what `argumentIn` finds, but faster: each call comes through here.
  const start = `${SANDBOX}=`;
  const at = text.lastIndexOf(start);
  if (at < 0 || (at > 0 && text[at - 1] !== ";")) return false;
  const end = text.indexOf(";", at);
  return text.slice(at + start.length, end < 0 ? undefined : end) === containerId;
}

/** A pod as `namespace/name`, or a name alone; empty where it is not known. */
export function formatPod({ namespace, name }: Pod): string {
  return namespace === "" || name === "" ? name : `${namespace}/${name}`;
}

/**
 * Whether a pod has a name, in whatever namespace or without one, as podman's.
 *
 * @param pod as `formatPod` gives it
 */
export function isPodNamed(pod: string, name: string): boolean {
  return pod === name || pod.endsWith(`/${name}`);
}

/** A pod as `namespace/name`; made only by `parsePodName`. */
export type PodName = string & { readonly proof: "pod name" };

/** A namespace and a name, as Kubernetes limits their lengths; their letters are not checked, since other runtimes have pods. */
const POD_NAME = /^[\w.-]{1,63}\/[\w.-]{1,253}$/;

/**
 * A pod as it is written in a configuration.
 *
 * @param text such as `default/db-0`
 * @returns `undefined` where it is not a namespace and a name
 */
export function parsePodName(text: string): PodName | undefined {
  return POD_NAME.test(text) ? (text as PodName) : undefined;
}
