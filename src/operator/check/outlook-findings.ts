/** Findings on what the next ADD in a network comes to, by the dry run of one. */

import { messageWithDetails } from "../../cni/error.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { SetAhead } from "../judgements/next-add.ts";
import type { Node } from "../node.ts";
import { hasFailedFor } from "./call-findings.ts";
import type { Finding } from "./finding.ts";

/** Looks whether an ADD in a network fails, whatever is free in its ranges, for a reason that no failed call has told. */
export function outlookFindings(node: Node, directory: NetworkDirectory): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const network of directory.networks) {
    const { files, source: path = "" } = network;
    const about = { network: files.network, path };
    const { doubt, sets, failure = emptyIn(sets) } = node.nextAddIn(directory, network);
    const reason = failure ?? doubt;
    if (reason !== undefined && hasFailedFor(node, directory, reason)) continue;
    if (failure !== undefined) {
      const message = `every ADD fails: ${failure}`;
      found.set(message, { ...about, code: "add-fails", message });
    } else if (doubt !== undefined) {
      const message = `whether an ADD works cannot be told: ${doubt}`;
      found.set(message, { ...about, code: "add-unknown", message });
    }
  }
  return [...found.values()];
}

/** The error of the ADD for a range set that has no address by the configuration. */
function emptyIn(sets: readonly SetAhead[]): string | undefined {
  const error = sets.find(({ kind }) => kind === "empty")?.error;
  return error && messageWithDetails(error);
}
