/**
 * The programs of the cluster: those that `scripts/fetch/kubernetes.sh` builds of Debian's source, or those in the directory
 * of `npm run test:kubernetes -- --binaries DIR`.
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { kubectl as fetchedKubectl } from "../harness/kubectl.ts";
import { inRepository } from "../harness/repository.ts";

/** The directory with the programs that somebody has, as upstream's server archive has them; empty where nobody gives one. */
const { HOST_LOCAL_KUBERNETES: given = "" } = process.env;

/** The minor version of what is built of Debian's source. */
const BUILT = 20;

/** The oldest that somebody may give: its configuration file of kubelet names containerd's socket. */
const OLDEST_GIVEN = 27;

/** Whether somebody has given the programs. */
export const isGiven: boolean = given !== "";

/** The releases of containerd, as their layers are named. */
export type ContainerdRelease = "1.6" | "2";

/** Whether kubelet speaks the version of the CRI that containerd 2 does. */
export const speaksCriV1: boolean = isGiven;

/** The programs of the control plane and of the node that somebody has to give. */
const toGive = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"];

/**
 * Says in a plain sentence why the directory that somebody gave does not do.
 *
 * @returns the sentence, or undefined where it does, or nobody gave one
 */
export function obstacleOfGiven(): string | undefined {
  if (!isGiven) return undefined;
  const missing = toGive.find((name) => !existsSync(join(given, name)));
  if (missing !== undefined) return `--binaries: ${given} has no ${missing}.`;
  if (minorVersion() >= OLDEST_GIVEN) return undefined;
  return `--binaries: expected Kubernetes 1.${OLDEST_GIVEN} or later; found ${versionOfKubelet()}.`;
}

/**
 * The path of a program. What is not in the directory that somebody gave, such as etcd, is Debian's.
 *
 * @param name its name
 */
export function program(name: string): string {
  if (!isGiven) return inRepository(`build/kubernetes/${name}`);
  const path = join(given, name);
  return existsSync(path) ? path : inRepository(`build/${name}/usr/bin/${name}`);
}

/** The kubectl of the operator: the one beside the programs that somebody gave, or Debian's. */
export function kubectlProgram(): string {
  const path = join(given, "kubectl");
  return isGiven && existsSync(path) ? path : fetchedKubectl;
}

/** The minor version of Kubernetes, such as 36 of 1.36.2. */
export function minorVersion(): number {
  return isGiven ? Number(/\.(\d+)\./.exec(versionOfKubelet())?.[1]) : BUILT;
}

/** Such as `Kubernetes v1.36.2`. */
function versionOfKubelet(): string {
  return execFileSync(program("kubelet"), ["--version"], { encoding: "utf8" }).trim();
}

/**
 * The release of containerd that a scenario runs with: 2 where somebody gave the programs, or else the one that it names.
 *
 * @param named the release that it is about, if any
 */
export function containerdOf(named: ContainerdRelease = "1.6"): ContainerdRelease {
  return isGiven ? "2" : named;
}
