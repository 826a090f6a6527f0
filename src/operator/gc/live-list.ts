/** Lists of live containers, as runtimes print them. */

import { CommandError } from "../../cli/command/command.ts";
import { isIdentifier } from "../../cni/attachment.ts";
import { NAMESPACED_ID, SANDBOX_ID } from "./runtime-command.ts";

/** The ids of the live containers. */
export interface LiveList {
  readonly size: number;
  /** The namespaces of containerd of which it has containers. */
  readonly namespaces: ReadonlySet<string>;
  readonly has: (containerId: string) => boolean;
}

/** The length of the shortest ids that runtimes print, in hexadecimal digits. */
const MIN_ID_LENGTH = 12;

/**
 * Parses a list of ids, one per line; empty lines and white space around ids are ignored. An id of twelve or more
 * hexadecimal digits also matches longer ids that start with it, since runtimes print shortened ids.
 *
 * @param source the name of the list, for the error
 * @throws CommandError if a line is not an id, such as a heading or an error message
 */
export function parseLiveList(text: string, source: string): LiveList {
  const ids = new Set<string>();
  for (const [index, line] of text.split("\n").entries()) {
    const id = line.trim();
    if (id === "") continue;
    if (!isIdentifier(id)) {
      throw new CommandError(
        `${source}: line ${index + 1} is not a container id: ${JSON.stringify(id.slice(0, 60))}; expected one id per line, as printed by crictl pods -q`,
      );
    }
    ids.add(id);
  }
  const lengths = [...new Set([...ids].filter(isHex).map(({ length }) => length))];
  return {
    size: ids.size,
    namespaces: new Set([...ids].flatMap((id) => namespaceOf(id) ?? [])),
    has: (containerId) =>
      ids.has(containerId) || lengths.some((length) => ids.has(hexPrefix(containerId, length))),
  };
}

/** All ids of several lists, one for each runtime. */
export function joined(lists: readonly LiveList[]): LiveList {
  return {
    size: lists.reduce((sum, { size }) => sum + size, 0),
    namespaces: new Set(lists.flatMap(({ namespaces }) => [...namespaces])),
    has: (containerId) => lists.some((list) => list.has(containerId)),
  };
}

/**
 * Whether a runtime's list could have a container: its id has the form of those that runtimes make, or is in a namespace of
 * containerd of which the list has others, where users choose the names.
 *
 * @example mayHave(list, "cilium-ingress-node1"); // false
 */
export function mayHave({ namespaces }: LiveList, containerId: string): boolean {
  if (SANDBOX_ID.test(containerId) || NAMESPACED_ID.test(containerId)) return true;
  const namespace = namespaceOf(containerId);
  return namespace !== undefined && namespaces.has(namespace);
}

/** What is before the first hyphen: `ctr` and nerdctl use `NAMESPACE-ID` in CNI calls. */
function namespaceOf(id: string): string | undefined {
  const at = id.indexOf("-");
  return at > 0 ? id.slice(0, at) : undefined;
}

function isHex(id: string): boolean {
  return id.length >= MIN_ID_LENGTH && /^[0-9a-f]+$/.test(id);
}

/** The first digits of an id; empty if it is shorter, or they are not hexadecimal. */
function hexPrefix(containerId: string, length: number): string {
  const prefix = containerId.slice(0, length);
  return containerId.length > length && isHex(prefix) ? prefix : "";
}
