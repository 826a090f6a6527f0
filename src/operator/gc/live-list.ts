/** Lists of live containers, as runtimes print them. */

import { CommandError } from "../../cli/command/command.ts";
import { isIdentifier } from "../../cni/attachment.ts";

/** The ids of the live containers. */
export interface LiveList {
  readonly size: number;
  readonly has: (containerId: string) => boolean;
  /**
   * Whether the list could have a container: its id has the form that runtimes make, or is in a namespace of containerd in
   * which users choose the names and of which the list has others.
   *
   * @example mayHave("cilium-ingress-node1"); // false
   */
  readonly mayHave: (containerId: string) => boolean;
}

/** What a runtime has printed. */
export interface ListText {
  /** The name of the list, for errors. */
  readonly source: string;
  readonly text: string;
}

/** The ids that runtimes make of sandboxes and containers; nerdctl has containerd's namespace before them. */
export const SANDBOX_ID = /^[0-9a-f]{64}$/;

/** The length of the shortest ids that runtimes print, in hexadecimal digits. */
const MIN_ID_LENGTH = 12;

/**
 * Parses lists of ids, one per line, to one list; empty lines and white space around ids are ignored. An id of twelve or more
 * hexadecimal digits also matches longer ids that start with it, since runtimes print shortened ids. An id also matches those that
 * have containerd's namespace before it, as `ctr` and nerdctl use them in CNI calls: they print ids without.
 *
 * @throws CommandError if a line is not an id, such as a heading or an error message
 */
export function parseLiveLists(...texts: readonly ListText[]): LiveList {
  const ids = new Set(texts.flatMap(idsIn));
  const lengths = [...new Set([...ids].filter(isHex).map(({ length }) => length))];
  const isListed = (id: string): boolean =>
    ids.has(id) || lengths.some((length) => ids.has(hexPrefix(id, length)));
  const namespaces = new Set([...ids].map(namespaceOf));
  namespaces.delete("");
  return {
    size: ids.size,
    has: (id) => isListed(id) || endsOf(id).some(isListed),
    mayHave: (id) => isOfRuntime(id) || namespaces.has(namespaceOf(id)),
  };
}

/** Whether an id has the form of those that runtimes make, with containerd's namespace before it or without. */
export function isOfRuntime(id: string): boolean {
  return [id, ...endsOf(id)].some((part) => SANDBOX_ID.test(part));
}

function idsIn({ source, text }: ListText): readonly string[] {
  return text.split("\n").flatMap((line, index) => {
    const id = line.trim();
    if (id === "") return [];
    if (isIdentifier(id)) return [id];
    throw new CommandError(
      `${source}: line ${index + 1} is not a container id: ${JSON.stringify(id.slice(0, 60))}; expected one id per line, as printed by crictl pods -q`,
    );
  });
}

/** What is before the first hyphen, or nothing. */
function namespaceOf(id: string): string {
  return id.slice(0, Math.max(id.indexOf("-"), 0));
}

/** The parts of an id after each hyphen: a namespace may have hyphens itself. */
function endsOf(id: string): readonly string[] {
  const parts = id.split("-");
  return parts.slice(1).map((_, at) => parts.slice(at + 1).join("-"));
}

function isHex(id: string): boolean {
  return id.length >= MIN_ID_LENGTH && /^[0-9a-f]+$/.test(id);
}

/** The first digits of an id; empty if it is shorter, or they are not hexadecimal. */
function hexPrefix(containerId: string, length: number): string {
  const prefix = containerId.slice(0, length);
  return containerId.length > length && isHex(prefix) ? prefix : "";
}
