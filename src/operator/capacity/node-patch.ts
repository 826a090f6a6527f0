/** A node's addresses as an extended resource, so that the scheduler counts them. */

import { CommandError } from "../command/command.ts";

/** Kubernetes keeps this domain, and its parts, to itself. */
const KEPT = /(?:^|\.)kubernetes\.io$/;

const DOMAIN =
  /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const NAME = /^(?=.{1,63}$)[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * The JSON patch (RFC 6902) that publishes a number of addresses in a node's status. Applied again, it replaces.
 *
 * @param resource such as `example.com/pod-ips`
 * @throws CannotLook where no extended resource can have this name
 */
export function nodePatch(resource: string, count: bigint): readonly object[] {
  const [domain = "", name = "", ...rest] = resource.split("/");
  if (!DOMAIN.test(domain) || !NAME.test(name) || rest.length > 0) {
    throw new CommandError(
      `--resource: expected a domain of yours and a name, such as example.com/pod-ips; found ${resource}`,
    );
  }
  if (KEPT.test(domain)) {
    throw new CommandError(`--resource: kubernetes.io is not yours; found ${resource}`);
  }
  const path = `/status/capacity/${escapePointer(resource)}`;
  return [{ op: "add", path, value: `${count}` }];
}

/** A member's name in a JSON pointer (RFC 6901). */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
