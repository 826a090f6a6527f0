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

/**
 * Whether a container is the sandbox of a pod, by `K8S_POD_INFRA_CONTAINER_ID`, which containerd and CRI-O pass.
 *
 * @param text the value of `CNI_ARGS`
 */
export function isPodSandbox(
  { containerId }: Pick<Attachment, "containerId">,
  text: string,
): boolean {
  return argumentIn("K8S_POD_INFRA_CONTAINER_ID", text) === containerId;
}

/** A pod as `namespace/name`, or a name alone; empty where it is not known. */
export function formatPod({ namespace, name }: Pod): string {
  return namespace === "" || name === "" ? name : `${namespace}/${name}`;
}
