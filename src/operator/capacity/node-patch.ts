/** The patch that publishes a node's addresses as an extended resource. */

/** The JSON patch (RFC 6902) that publishes a number of addresses in a node's status. It may be applied repeatedly. */
export function nodePatch(resource: string, count: bigint): readonly object[] {
  return [{ op: "add", path: `/status/capacity/${escapePointer(resource)}`, value: `${count}` }];
}

/** A member's name in a JSON pointer (RFC 6901). */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
