/** The nodes of a cluster as `kubectl get nodes -o json` or `-o yaml` prints them, and what of them is asked here. */

import { parseAllDocuments } from "yaml";
import { CommandError } from "../command/command.ts";
import { listOf, member, textOf } from "../node/json-values.ts";
import { type CidrRequest, readKubectlYaml } from "./kubectl-yaml.ts";

/** A node: what its podCIDRs are, and how many pods it takes. */
export interface ClusterNode {
  readonly name: string;
  /** As they are written; none where the node has none. */
  readonly podCidrs: readonly string[];
  /** `status.allocatable.pods`; `undefined` where it is not said. */
  readonly pods: bigint | undefined;
  /** When it was created, such as `2024-05-01T10:00:00Z`; empty where it is not said. */
  readonly created: string;
}

const BYTE_ORDER_MARK = "\ufeff";

/** What is asked for of a node, and of a list of them. */
const NODE: CidrRequest = {
  kind: "text",
  metadata: { name: "text", creationTimestamp: "text" },
  spec: { podCIDR: "text", podCIDRs: ["text"] },
  status: { allocatable: { pods: "text" } },
};
const DOCUMENT: CidrRequest = { ...NODE, items: [NODE] };

/**
 * Reads the nodes: a list of them, a single one, or several YAML documents of either. What else is in it is passed over.
 *
 * @param text JSON where it begins with a brace, else YAML
 * @param source where the text is from, for the error
 * @throws CannotLook
 */
export function parseNodes(text: string, source: string): readonly ClusterNode[] {
  // By hand, since an expression would be tried at every place of a text of many megabytes.
  const start = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  const documents = start.trimStart().startsWith("{")
    ? [parseJson(start, source)]
    : parseYaml(start, source);
  const nodes = documents.flatMap(nodesIn);
  const isEmptyList = documents.some(
    (document) => isList(document) && listOf(member(document, "items")).length === 0,
  );
  if (nodes.length > 0 || isEmptyList) return nodes;
  throw new CommandError(
    `${source}: there is no node in it; expected what kubectl get nodes -o json prints`,
  );
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notUnderstood("JSON", source, error);
  }
}

function parseYaml(text: string, source: string): readonly unknown[] {
  const documents = readKubectlYaml(text, DOCUMENT);
  if (documents !== undefined) return documents;
  try {
    return [...parseAllDocuments(text, { uniqueKeys: false })].map((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      return document.toJS();
    });
  } catch (error) {
    throw notUnderstood("YAML", source, error);
  }
}

function notUnderstood(what: string, source: string, error: unknown): CommandError {
  if (!(error instanceof Error)) throw error;
  return new CommandError(`${source}: this is not ${what}: ${error.message.split("\n")[0]}`);
}

function nodesIn(document: unknown): readonly ClusterNode[] {
  if (!isList(document))
    return textOf(member(document, "kind")) === "Node" ? [nodeOf(document)] : [];
  const isOfNodes = member(document, "kind") === "NodeList";
  // What the API itself sends names the kind once, for all.
  return listOf(member(document, "items")).flatMap((item) =>
    isOfNodes && member(item, "kind") === undefined ? [nodeOf(item)] : nodesIn(item),
  );
}

function isList(document: unknown): boolean {
  const kind = member(document, "kind");
  return kind === "List" || kind === "NodeList";
}

function nodeOf(node: unknown): ClusterNode {
  const metadata = member(node, "metadata");
  const spec = member(node, "spec");
  const podCidr = textOf(member(spec, "podCIDR"));
  const podCidrs = listOf(member(spec, "podCIDRs")).map(textOf);
  const pods = String(member(member(member(node, "status"), "allocatable"), "pods"));
  return {
    name: textOf(member(metadata, "name")),
    // Clusters of before 1.16 have no list.
    podCidrs: podCidrs.length > 0 || podCidr === "" ? podCidrs : [podCidr],
    pods: /^[0-9]{1,20}$/.test(pods) ? BigInt(pods) : undefined,
    created: textOf(member(metadata, "creationTimestamp")),
  };
}
