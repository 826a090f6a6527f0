/** The nodes of a cluster, as `kubectl get nodes -o json` or `-o yaml` prints them. */

import { parseAllDocuments } from "yaml";
import { CommandError } from "../command/command.ts";
import { listOf, member, textOf } from "../node/json-values.ts";

/** What this tool reads of a Kubernetes node. */
export interface ClusterNode {
  readonly name: string;
  /** `spec.podCIDRs`, not checked; empty where the node has none. */
  readonly podCidrs: readonly string[];
  /** `status.allocatable.pods`; `undefined` where it is missing. */
  readonly pods: bigint | undefined;
  /** `metadata.creationTimestamp`, such as `2024-05-01T10:00:00Z`; empty where it is missing. */
  readonly created: string;
}

const BYTE_ORDER_MARK = "\ufeff";

/**
 * Reads a list of nodes, a single node, or several YAML documents of either. Objects of other kinds are ignored.
 *
 * @param text JSON or YAML, see {@link isJson}
 * @param source where the text is from, for the error message
 * @throws CommandError where the text cannot be parsed, or holds neither a node nor an empty list
 */
export function parseNodes(text: string, source: string): readonly ClusterNode[] {
  const documents = isJson(text) ? [parseJson(text, source)] : parseYaml(text, source);
  const nodes = documents.flatMap(nodesIn);
  const isEmptyList = documents.some(
    (document) => isList(document) && listOf(member(document, "items")).length === 0,
  );
  if (nodes.length > 0 || isEmptyList) return nodes;
  throw new CommandError(
    `${source}: no nodes found; expected the output of kubectl get nodes -o json`,
  );
}

/** Whether a text is taken for JSON, because it begins with a brace; any other text is taken for YAML. */
export function isJson(text: string): boolean {
  return withoutMark(text).trimStart().startsWith("{");
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(withoutMark(text));
  } catch (error) {
    throw syntaxError("JSON", source, error);
  }
}

function parseYaml(text: string, source: string): readonly unknown[] {
  try {
    return [...parseAllDocuments(text, { uniqueKeys: false })].map((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      // kubectl prints no aliases, and resolving many of them takes minutes.
      return document.toJS({ maxAliasCount: 0 });
    });
  } catch (error) {
    throw syntaxError("YAML", source, error);
  }
}

function syntaxError(what: string, source: string, error: unknown): CommandError {
  if (!(error instanceof Error)) throw error;
  // The yaml package adds the line itself below its message, after a colon.
  const [message = ""] = error.message.split("\n");
  return new CommandError(`${source}: cannot be parsed as ${what}: ${message.replace(/:$/, "")}`);
}

function nodesIn(document: unknown): readonly ClusterNode[] {
  if (!isList(document)) {
    return textOf(member(document, "kind")) === "Node" ? [nodeOf(document)] : [];
  }
  const isNodeList = member(document, "kind") === "NodeList";
  // The items of a NodeList, which is what the API server sends, have no kind of their own.
  return listOf(member(document, "items")).flatMap((item) =>
    isNodeList && member(item, "kind") === undefined ? [nodeOf(item)] : nodesIn(item),
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
    // Before Kubernetes 1.16 there was only podCIDR.
    podCidrs: podCidrs.length > 0 || podCidr === "" ? podCidrs : [podCidr],
    pods: /^[0-9]{1,20}$/.test(pods) ? BigInt(pods) : undefined,
    created: textOf(member(metadata, "creationTimestamp")),
  };
}
