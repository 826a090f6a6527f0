/** What the Go plugin makes of the configurations on this node that only this one understands. */

import { CommandError, type Context, type Option } from "../../cli/command/command.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { configurationOf } from "../../cni/call.ts";
import { CniError } from "../../cni/error.ts";
import { type JsonObject, type Located, member } from "../../cni/json.ts";
import { bitsOf } from "../../ipam/address.ts";
import { isGcOnly } from "../../ipam/config.ts";
import type { Prefix } from "../../ipam/prefix.ts";
import { rangeIn, rangeSetsIn } from "../../ipam/range-fields.ts";
import { configurationDirectories, type Requested } from "../node/configuration-directories.ts";
import { readConfigurations } from "../node/configurations.ts";

/** The option that goes back to the Go plugin nevertheless. */
export const forceOption: Option = {
  name: "--force",
  summary: "go back to a plugin that does not understand the configurations of this node",
};

/** What happens to a network under the Go plugin, with what the configuration has that it does not understand. */
const consequences = {
  gcOnly: "every ADD fails, and leaves an address reserved",
  rangesFile: "ADD and DEL fail, or use other ranges",
  "a subnet of one or two addresses": "ADD and DEL fail",
  exclude: "excluded addresses are handed out",
  repeatedAdd: "a repeated ADD fails",
} as const;

/** Keys without which everything works, but not what they were set for. */
const promises = ["history", "reuseDelaySeconds", "sticky", "exhaustedStatus"] as const;

/** What goes wrong, a clause for each cause, such as `…/10-mynet.conf (network mynet) has exclude: excluded addresses …`. */
export interface GoingBack {
  readonly broken: readonly string[];
  /** The keys that have no effect then. */
  readonly lost: readonly string[];
}

/**
 * What going back to the Go plugin would do to the networks of this node.
 *
 * @param name by which the configurations call the plugin
 */
export function goingBack(context: Requested, name: string): GoingBack {
  const { system } = context;
  const configurations = configurationDirectories(context)
    .flatMap((directory) => readConfigurations(system, directory, []))
    .flatMap(({ source, document }) => usesOf(document, name).map((one) => ({ source, ...one })));
  const broken = configurations.flatMap(({ source, network, unknown }) =>
    unknown.map((what) => `${source} (network ${network}) has ${what}: ${consequences[what]}`),
  );
  const lost = promises.filter((key) => configurations.some(({ kept }) => kept.includes(key)));
  return { broken: [...new Set(broken)], lost };
}

/**
 * What is said before going back; where a network would break, only with `--force`.
 *
 * @returns a sentence for people; empty where nothing changes
 * @throws CommandError
 */
export function requireGoingBack(context: Context, name: string): string {
  const { broken, lost } = goingBack(context, name);
  if (broken.length > 0 && !context.has(forceOption.name)) {
    throw new CommandError(
      `install: the Go plugin does not understand the configurations of this node; nothing was changed. Correct them, or add ${forceOption.name}:`,
      broken.map((line) => inOneLine(`  ${line}`)),
    );
  }
  const notes = lost.length === 0 ? [] : [`${lost.join(", ")} will have no effect`];
  return [...broken, ...notes].map((note) => `${note}.`).join(" ");
}

interface Use {
  readonly network: string;
  readonly unknown: readonly (keyof typeof consequences)[];
  readonly kept: readonly (typeof promises)[number][];
}

/** None of a configuration that is invalid, or calls another plugin. */
function usesOf(document: JsonObject, type: string): readonly Use[] {
  try {
    const network = configurationOf(document);
    const ipam = member(network.document, "ipam");
    if (ipam === undefined || member(ipam, "type")?.value !== type) return [];
    const has = (key: string): boolean => isSet(member(ipam, key));
    const present: Readonly<Record<keyof typeof consequences, boolean>> = {
      gcOnly: isGcOnly(network),
      rangesFile: has("rangesFile"),
      "a subnet of one or two addresses": subnetsIn(ipam).some(isTooSmall),
      exclude: has("exclude"),
      repeatedAdd: member(ipam, "repeatedAdd")?.value === "same",
    };
    const unknown = (Object.keys(present) as (keyof typeof consequences)[]).filter(
      (key) => present[key],
    );
    return [{ network: network.name, unknown, kept: promises.filter(has) }];
  } catch (error) {
    if (error instanceof CniError) return [];
    throw error;
  }
}

/** Whether a key has another value than those that turn it off. */
function isSet(at: Located | undefined): boolean {
  const off: readonly unknown[] = [undefined, false, 0, "", "none", "ready"];
  const value = at?.value;
  return !off.includes(value) && !(Array.isArray(value) && value.length === 0);
}

function subnetsIn(ipam: Located): readonly Prefix[] {
  const sets = rangeSetsIn(member(ipam, "ranges")).flatMap(({ ranges }) => ranges);
  return [rangeIn(ipam), ...sets].flatMap(({ subnet }) => subnet ?? []);
}

function isTooSmall({ address, length }: Prefix): boolean {
  return length > bitsOf(address.family) - 2;
}
