/** Reads the nodes of a cluster, as `kubectl get nodes -o json` prints them. */

import { CommandError } from "../../cli/command/command.ts";
import { exactMember, listOf, textOf } from "../../cli/command/json-values.ts";
import { parseAddress } from "../../ipam/address.ts";
import { type ClusterNode, type PodCidr, podCidrOf } from "./node-cidrs.ts";

const BYTE_ORDER_MARK = "\ufeff";

/** What Kubernetes accepts as the name of a node (RFC 1123 subdomain). */
const NODE_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Reads a list of nodes, or a single node. Objects of other kinds are ignored; of a node that is there twice, the last counts.
 *
 * @param text JSON
 * @param source where the text is from, for the error message
 * @throws CommandError where the text cannot be parsed, holds no node, or one that no API server accepts
 */
export function parseNodes(text: string, source: string): readonly ClusterNode[] {
  const expected = (found: string): CommandError =>
    new CommandError(`${source}: found ${found}; expected the output of kubectl get nodes -o json`);
  const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  if (!json.trimStart().startsWith("{")) throw expected(otherFormOf(json));
  const document = parseJson(json, source);
  const kind = exactMember(document, "kind");
  const items = kind === "Node" ? [document] : listOf(exactMember(document, "items"));
  // The items of a NodeList, which is what the API server sends, have no kind of their own.
  const nodes = items.filter((item) => kind === "NodeList" || exactMember(item, "kind") === "Node");
  if (nodes.length === 0)
    throw expected(`no node in an object of kind ${JSON.stringify(textOf(kind))}`);
  // A node that is named twice, as by `kubectl get nodes a a`, would share its podCIDR with itself.
  const read = nodes.map((node) => nodeOf(node, expected));
  return [...new Map(read.map((node) => [node.name, node])).values()];
}

/** The most characters of a text that a message quotes. */
const QUOTED = 80;

/** What a text is that is not JSON, for an error message. */
function otherFormOf(text: string): string {
  const [line = ""] = /\S[^\r\n]*/.exec(text) ?? [];
  if (line === "") return "no text";
  if (/^[- ]*(?:apiVersion|kind|items):/m.test(text)) return "YAML";
  return `the text ${JSON.stringify(line.slice(0, QUOTED))}`;
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CommandError(`${source}: cannot be parsed as JSON: ${error.message}`);
  }
}

function nodeOf(object: unknown, expected: (found: string) => CommandError): ClusterNode {
  const metadata = exactMember(object, "metadata");
  const spec = exactMember(object, "spec");
  const name = textOf(exactMember(metadata, "name"));
  // No name becomes an option or another command where it is printed as one.
  if (!NODE_NAME.test(name)) throw expected(`a node with the name ${JSON.stringify(name)}`);
  const podCidr = textOf(exactMember(spec, "podCIDR"));
  const podCidrs = listOf(exactMember(spec, "podCIDRs")).map(textOf);
  const status = exactMember(object, "status");
  const pods = String(exactMember(exactMember(status, "allocatable"), "pods"));
  const cidrs: PodCidr[] = [];
  const node: ClusterNode = {
    name,
    cidrs,
    pods: /^[0-9]{1,20}$/.test(pods) ? BigInt(pods) : undefined,
    created: textOf(exactMember(metadata, "creationTimestamp")),
    addresses: listOf(exactMember(status, "addresses")).flatMap((address) =>
      textOf(exactMember(address, "type")) === "InternalIP"
        ? (parseAddress(textOf(exactMember(address, "address"))) ?? [])
        : [],
    ),
    isCordoned: exactMember(spec, "unschedulable") === true,
  };
  // Before Kubernetes 1.16 there was only podCIDR.
  for (const text of podCidrs.length > 0 || podCidr === "" ? podCidrs : [podCidr]) {
    const cidr = podCidrOf(node, text);
    if (cidr === undefined) throw expected(`the podCIDR ${JSON.stringify(text)} of ${name}`);
    cidrs.push(cidr);
  }
  return node;
}
