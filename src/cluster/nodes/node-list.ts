/** The nodes of a cluster, as `kubectl get nodes -o json` or `-o yaml` prints them. */

import { parseAllDocuments } from "yaml";
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
}

const BYTE_ORDER_MARK = "\ufeff";

/**
 * Reads a list of nodes, a single node, or several YAML documents of either. Objects of other kinds are ignored.
 *
 * @param text JSON or YAML, see {@link isJson}
 * @param source where the text is from, for the error message
 * @throws CommandError where the text cannot be parsed, or holds no node
 */
export function parseNodes(text: string, source: string): readonly ClusterNode[] {
  const reject = (found: string): CommandError =>
    new CommandError(`${source}: found ${found}; expected the output of kubectl get nodes -o json`);
  const form = otherFormOf(withoutMark(text));
  if (form !== undefined) throw reject(form);
  const documents = isJson(text) ? [parseJson(text, source)] : parseYaml(text, source);
  const nodes = documents.flatMap(nodesIn);
  if (nodes.length > 0) return nodes;
  throw reject(describe(documents[0]));
}

/** How many characters of a text, and how many kinds, a message quotes. */
const QUOTED = { characters: 80, kinds: 3 };

/** What a text is that is neither JSON nor the YAML of a Kubernetes object, for an error message. */
function otherFormOf(text: string): string | undefined {
  const [line = ""] = /\S[^\r\n]*/.exec(text) ?? [];
  if (line === "") return "no text";
  if (line.startsWith("<")) return "HTML or XML";
  if (/^NAME\s+STATUS\s/.test(line)) return "a table";
  if (isJson(text) || /^[- ]*['"]?kind\b/m.test(text)) return undefined;
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
