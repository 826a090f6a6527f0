/** The nodes of a cluster, as `kubectl get nodes -o json` prints them. */

import { CommandError } from "../../cli/command/command.ts";
import { listOf, member, textOf } from "../../cli/command/json-values.ts";
import { printable } from "../../cli/output/printable.ts";

/** What this tool reads of a Kubernetes node. */
export interface ClusterNode {
  readonly name: string;
  /** `spec.podCIDRs`, not checked; empty where the node has none. */
  readonly podCidrs: readonly string[];
  /** `status.allocatable.pods`; `undefined` where it is missing. */
  readonly pods: bigint | undefined;
  /** `metadata.creationTimestamp`, such as `2024-05-01T10:00:00Z`; empty where it is missing. */
  readonly created: string;
  /** Whether it was cordoned (`spec.unschedulable`). */
  readonly isCordoned: boolean;
}

const BYTE_ORDER_MARK = "\ufeff";

/**
 * Reads a list of nodes, or a single node. Objects of other kinds are ignored.
 *
 * @param text JSON
 * @param source where the text is from, for the error message
 * @throws CommandError where the text cannot be parsed, or holds no node
 */
export function parseNodes(text: string, source: string): readonly ClusterNode[] {
  const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  const document = json.trimStart().startsWith("{") ? parseJson(json, source) : undefined;
  const nodes = nodesIn(document);
  if (nodes.length > 0) return nodes;
  const found = document === undefined ? otherFormOf(json) : describe(document);
  throw new CommandError(
    `${source}: found ${found}; expected the output of kubectl get nodes -o json`,
  );
}

/** How many characters of a text, and how many kinds, a message quotes. */
const QUOTED = { characters: 80, kinds: 3 };

/** What a text is that is not JSON, for an error message. */
function otherFormOf(text: string): string {
  const [line = ""] = /\S[^\r\n]*/.exec(text) ?? [];
  if (line === "") return "no text";
  if (line.startsWith("<")) return "HTML or XML";
  if (/^NAME\s+STATUS\s/.test(line)) return "a table";
  if (/^[- ]*(?:apiVersion|kind|items):/m.test(text)) return "YAML";
  return `the text ${printable(line.slice(0, QUOTED.characters))}`;
}

/** What a document without nodes is, for an error message. */
function describe(document: unknown): string {
  const kind = textOf(member(document, "kind"));
  if (isList(document)) {
    const kinds = [...new Set(listOf(member(document, "items")).map(kindOf))];
    const named = kinds.slice(0, QUOTED.kinds).join(", ");
    return kinds.length === 0 ? "a list without nodes" : `a list of kind ${named}`;
  }
  if (kind === "Config") return "a kubeconfig";
  if (kind === "Status") return `an error: ${printable(textOf(member(document, "message")))}`;
  return kind === "" ? "an object without a kind" : `kind ${printable(kind)}`;
}

function kindOf(item: unknown): string {
  return printable(textOf(member(item, "kind")));
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CommandError(`${source}: cannot be parsed as JSON: ${error.message}`);
  }
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
    isCordoned: member(spec, "unschedulable") === true,
  };
}
