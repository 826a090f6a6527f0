/** The patch that publishes a node's addresses as an extended resource. */

import { UsageError } from "../command/command.ts";

/** Kubernetes reserves this domain and its subdomains. */
const RESERVED = /(?:^|\.)kubernetes\.io$/;

const DOMAIN =
  /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const NAME = /^(?=.{1,63}$)[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * The JSON patch (RFC 6902) that publishes a number of addresses in a node's status. It may be applied repeatedly.
 *
 * @param resource such as `example.com/pod-ips`
 * @throws CommandError if it is not the name of an extended resource
 */
export function nodePatch(resource: string, count: bigint): readonly object[] {
  const [domain = "", name = "", ...rest] = resource.split("/");
  if (!DOMAIN.test(domain) || !NAME.test(name) || rest.length > 0) {
    throw new UsageError(
      `--resource: expected DOMAIN/NAME, such as example.com/pod-ips; found ${resource}`,
    );
  }
  if (RESERVED.test(domain)) {
    throw new UsageError(`--resource: the domain kubernetes.io is reserved; found ${resource}`);
  }
  const path = `/status/capacity/${escapePointer(resource)}`;
  return [{ op: "add", path, value: `${count}` }];
}

/** A member's name in a JSON pointer (RFC 6901). */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
