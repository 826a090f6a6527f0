/** The programs of the cluster: those in a directory that somebody gives, and Debian's kubectl, etcd and runc. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { kubectl } from "../harness/kubectl.ts";
import { inRepository } from "../harness/repository.ts";

/** The directory of `npm run test:kubernetes -- --binaries DIR`. */
const { HOST_LOCAL_KUBERNETES: given = "" } = process.env;

/** The programs of the control plane and of the node that the directory has to have. */
const toGive = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"];

/** The minor version of Kubernetes whose API first has what a scenario uses: ServiceCIDR objects. */
const OLDEST = 33;

/**
 * Says in a plain sentence why a directory does not do.
 *
 * @param directory its path; empty if nobody gave one
 * @returns the sentence, or undefined if it does
 */
export function obstacleOfPrograms(directory: string): string | undefined {
  const last = toGive.at(-1);
  const expected = `expected a directory with ${toGive.slice(0, -1).join(", ")} and ${last} of Kubernetes 1.${OLDEST} or later, as upstream's server archive has them`;
  if (directory === "") return `--binaries or HOST_LOCAL_KUBERNETES: ${expected}.`;
  const missing = toGive.find((name) => !existsSync(join(directory, name)));
  if (missing !== undefined) return `${directory}: ${expected}; found no ${missing}.`;
  const version = execFileSync(join(directory, "kubelet"), ["--version"], { encoding: "utf8" });
  const minor = Number(/ v1\.(\d+)\./.exec(version)?.[1]);
  return minor >= OLDEST ? undefined : `${directory}: ${expected}; found ${version.trim()}.`;
}

/**
 * The path of a program.
 *
 * @param name its name
 */
export function program(name: string): string {
  const path = join(given, name);
  return existsSync(path) ? path : inRepository(`build/${name}/usr/bin/${name}`);
}

/** The runc of the node: the given one, or Debian's by its name. */
export function runcProgram(): string {
  const path = join(given, "runc");
  return existsSync(path) ? path : "runc";
}

/** The first release of runc that gives a pod a user namespace of its own, as kubelet asks for it. */
const FIRST_WITH_USER_NAMESPACES = 2;

/** Why no pod can have a user namespace of its own, in a sentence; `false` if it can. */
export const lackOfUserNamespaces: string | false = (() => {
  const path = runcProgram();
  const isGiven = path !== "runc";
  const text = isGiven ? execFileSync(path, ["--version"], { encoding: "utf8" }) : "";
  const isNew = Number(/ 1\.(\d+)\./.exec(text)?.[1] ?? 0) >= FIRST_WITH_USER_NAMESPACES;
  return isNew ? false : "The directory of --binaries has no runc 1.2 or later.";
})();

/** The path of multus, which Debian does not have. */
export function multusProgram(): string {
  return join(given, "multus");
}

/** Why pods get no second interface, in a sentence; `false` if they do. */
export const lackOfMultus: string | false = existsSync(multusProgram())
  ? false
  : "The directory of --binaries has no multus.";

/** The path of the operator's kubectl. */
export function kubectlProgram(): string {
  const path = join(given, "kubectl");
  return existsSync(path) ? path : kubectl;
}
