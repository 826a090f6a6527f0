/** Findings on what valid configurations say in vain. */

import { exactMember, textOf } from "../../cli/command/json-values.ts";
import { CniError } from "../../cni/error.ts";
import { requireAllowed } from "../../cni/version.ts";
import { isTrue } from "../node/configuration-files.ts";
import { type Configuration, configurationsIn } from "../node/configurations.ts";
import type { Node } from "../node/node.ts";
import type { Finding } from "./finding.ts";

/**
 * Checks the configurations that use this plugin.
 *
 * @param isSelected only those of networks whose name this holds for
 */
export function configurationFindings(
  { context, files }: Node,
  isSelected: (network: string) => boolean,
): readonly Finding[] {
  // What is wrong with them was found when the networks were.
  return configurationsIn(context.system, files, []).flatMap((configuration) => {
    const network = textOf(configuration.document.name);
    const reason = isSelected(network) ? whyNoGc(configuration) : undefined;
    if (reason === undefined) return [];
    const { source: path } = configuration;
    const message = `the entry with gcOnly gets no GC: ${reason}`;
    return [{ code: "gc-not-called", network, path, message }];
  });
}

/** Why no runtime sends GC to an entry that is there for it alone (`GCNetworkList` of libcni); `undefined` where one may. */
function whyNoGc({ document, file }: Configuration): string | undefined {
  if (document.gcOnly !== true) return undefined;
  if (isTrue(exactMember(file.document, "disableGC"))) return "its list has disableGC";
  const version = textOf(document.cniVersion) || "0.1.0";
  try {
    requireAllowed("GC", version);
    return undefined;
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    return `the cniVersion of its list is ${version}, and runtimes send GC from 1.1.0 on`;
  }
}
