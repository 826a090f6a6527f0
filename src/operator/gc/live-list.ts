/** The ids of the containers that are alive, as runtimes list them. */

import { isIdentifier } from "../../cni/attachment.ts";
import { CommandError } from "../command/command.ts";

/** Says whether a container is alive. */
export interface LiveList {
  readonly size: number;
  readonly has: (containerId: string) => boolean;
}

/** Runtimes cut ids to no less than so many hexadecimal digits. */
const SHORTEST_ID = 12;

/**
 * Reads a list of ids, one a line; empty lines and white space around them are passed over. An id of twelve or more
 * hexadecimal digits also stands for every longer one that begins with it, since runtimes print shortened ids.
 *
 * @param source where it is from, for the error
 * @throws CannotLook where a line is no id: it may be a heading or an error message, and no list at all
 */
export function parseLiveList(text: string, source: string): LiveList {
  const ids = new Set<string>();
  for (const [index, line] of text.split("\n").entries()) {
    const id = line.trim();
    if (id === "") continue;
    if (!isIdentifier(id)) {
      throw new CommandError(
        `${source}: line ${index + 1} is no container id: ${JSON.stringify(id.slice(0, 60))}; expected one id a line, as from crictl pods -q`,
      );
    }
    ids.add(id);
  }
  const lengths = [...new Set([...ids].filter(isHex).map(({ length }) => length))];
  return {
    size: ids.size,
    has: (containerId) =>
      ids.has(containerId) || lengths.some((length) => ids.has(hexPrefix(containerId, length))),
  };
}

function isHex(id: string): boolean {
  return id.length >= SHORTEST_ID && /^[0-9a-f]+$/.test(id);
}

/** The beginning of an id; empty where it is shorter, or no hexadecimal number so far. */
function hexPrefix(containerId: string, length: number): string {
  const prefix = containerId.slice(0, length);
  return containerId.length > length && isHex(prefix) ? prefix : "";
}
