/** Pods that do nothing but exist. */

import type { IPod } from "kubernetes-models/v1";
import { imageName } from "../clients/image.ts";
import { create, kubectl, waitFor } from "./kubectl.ts";

/**
 * A pod of the image of all containers.
 *
 * @param name its name
 * @param spec its further members
 */
export function podNamed(name: string, spec: Partial<IPod["spec"]> = {}): IPod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      // The pod's program ignores SIGTERM.
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      dnsPolicy: "Default",
      containers: [{ name: "main", image: imageName, imagePullPolicy: "Never" }],
      ...spec,
    },
  };
}

/**
 * Creates pods, and waits until they are ready.
 *
 * @param pods their names, or their manifests
 */
export function runPods(...pods: readonly (string | IPod)[]): void {
  const manifests = pods.map((pod) => (typeof pod === "string" ? podNamed(pod) : pod));
  create(manifests);
  waitFor("condition=Ready", ...manifests.map(({ metadata }) => `pod/${metadata?.name}`));
}

/**
 * Deletes pods, and waits until they are gone.
 *
 * @param names their names; all pods if there is none
 */
export function deletePods(...names: readonly string[]): void {
  kubectl("delete", "pods", ...(names.length === 0 ? ["--all"] : names));
}

/** The addresses in the API of the pods that have one, by their names. */
export function podAddresses(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listPods().flatMap(({ name, address }) => (address === undefined ? [] : [[name, address]])),
  );
}

/** The addresses of the pods, in text order. */
export function ownAddresses(): readonly string[] {
  return Object.values(podAddresses()).sort();
}

/** The ids of the containers that are ready, by the names of their pods. */
export function readyContainers(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listPods().flatMap(({ name, container }) =>
      container === undefined ? [] : [[name, container]],
    ),
  );
}

/**
 * All pods of the API. A pod that is ending has been deleted, and may stay for another minute, with its address, until kubelet
 * collects its containers. The id of a container is there once it is ready.
 */
export function listPods() {
  const { items }: { readonly items: readonly ListedPod[] } = JSON.parse(
    kubectl("get", "pods", "--output=json"),
  );
  return items.map(({ metadata, status }) => ({
    name: metadata.name,
    address: status.podIP,
    isEnding: metadata.deletionTimestamp !== undefined,
    container: status.containerStatuses?.find(({ ready }) => ready)?.containerID,
  }));
}

/**
 * Pings an address from inside a pod, through the API.
 *
 * @param pod the pod's name
 * @param address the address
 * @throws {Error} if there is no answer
 */
export function ping(pod: string, address: string): void {
  kubectl("exec", pod, "--", "ping", "-c", "1", "-W", "10", address);
}

/** The part of a pod that matters here. */
interface ListedPod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly {
      readonly containerID: string;
      readonly ready: boolean;
    }[];
  };
}
