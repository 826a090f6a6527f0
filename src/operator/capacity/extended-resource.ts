/** The extended resource that stands for addresses, and how a node gets it. */

import { type Context, type Option, UsageError } from "../../cli/command/command.ts";
import { timeText } from "../../cli/output/time.ts";

const DEFAULT_RESOURCE = "example.com/pod-ips";

/** The option that names it. */
export const resourceOption: Option = {
  name: "--resource",
  value: "NAME",
  summary: `name of the extended resource, and of the feature (default: ${DEFAULT_RESOURCE})`,
};

/** Kubernetes reserves `kubernetes.io` and its subdomains. */
const DOMAIN =
  /^(?=.{1,253}$)(?!(?:.*\.)?kubernetes\.io$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const NAME = /^(?=.{1,63}$)[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * The extended resource that `--resource` names, such as `example.com/pod-ips`.
 *
 * @throws UsageError if it is not the name of one
 */
export function extendedResourceOf({ option }: Context): string {
  const text = option(resourceOption.name) ?? DEFAULT_RESOURCE;
  const [domain = "", name = "", ...rest] = text.split("/");
  if (DOMAIN.test(domain) && NAME.test(name) && rest.length === 0) return text;
  throw new UsageError(
    `--resource: expected DOMAIN/NAME such as example.com/pod-ips, outside of kubernetes.io, found ${text}`,
  );
}

/** The JSON patch (RFC 6902) that publishes a number of addresses in a node's status. It may be applied repeatedly. */
export function nodePatch(resource: string, count: bigint): readonly object[] {
  return [{ op: "add", path: `/status/capacity/${escapePointer(resource)}`, value: `${count}` }];
}

/** A member's name in a JSON pointer (RFC 6901). */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * A file for the source `local` of node-feature-discovery. The number becomes a feature that a rule may use, and no label;
 * each directive applies to what follows it.
 *
 * @param name the feature, such as `example.com/pod-ips`
 * @param expires when it ceases to count, in milliseconds since the epoch
 */
export function featureFile(name: string, pods: bigint, expires: number): string {
  return `# Written by host-local.\n# +expiry-time=${timeText(expires)}\n# +no-label\n${name}=${pods}\n`;
}
