/** What a caller tells of a container, wherever the conventions of CNI have it. */

import { argumentIn } from "./arguments.ts";
import { foldKey, isObject, type Located, memberInAnyCase } from "./json.ts";

/** The capability with which containerd and CRI-O give a plugin the annotations of a pod. */
const POD_ANNOTATIONS = "io.kubernetes.cri.pod-annotations";

/**
 * The value of an argument: of `CNI_ARGS`, or else of `args.cni` (CNI conventions: dynamic plugin specific fields), or else of
 * `runtimeConfig`, where a capability such as `mac` is, or else of the pod's annotations, where the plugin has that capability.
 *
 * @param args the value of `CNI_ARGS`
 * @param document the configuration
 * @returns empty where nobody tells it, or it is no text
 */
export function callerArgument(name: string, args: string, document: Located): string {
  const own = argumentIn(name, args);
  if (own !== "") return own;
  const conventional = memberInAnyCase(document, "args");
  const runtimeConfig = memberInAnyCase(document, "runtimeConfig");
  return (
    textIn(conventional && memberInAnyCase(conventional, "cni"), name) ||
    textIn(runtimeConfig, name) ||
    annotationIn(runtimeConfig && memberInAnyCase(runtimeConfig, POD_ANNOTATIONS), name)
  );
}

function textIn(place: Located | undefined, name: string): string {
  const value = place && memberInAnyCase(place, foldKey(name))?.value;
  return typeof value === "string" ? value : "";
}

/** The names of annotations differ by their letters' case. */
function annotationIn(annotations: Located | undefined, name: string): string {
  const members = annotations?.value;
  if (members === undefined || !isObject(members) || !Object.hasOwn(members, name)) return "";
  const value = members[name];
  return typeof value === "string" ? value : "";
}
