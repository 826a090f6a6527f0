/** What becomes of the networks of this node where another plugin takes the place of this one, or none. */

import { exactMember, listOf, textOf } from "../../cli/command/json-values.ts";
import { type Json, type JsonObject, valueInAnyCase } from "../../cni/json.ts";
import { bitsOf } from "../../ipam/address.ts";
import { parsePrefix } from "../../ipam/prefix.ts";
import { NO_GATEWAY } from "../../ipam/range.ts";
import { findPlaces, type Requested } from "../configured/configuration-directories.ts";
import {
  type ConfigurationProblem,
  readConfigurationFiles,
} from "../configured/configuration-files.ts";
import { configurationsIn } from "../configured/configurations.ts";

const SMALL_SUBNET = "a subnet of one or two addresses";
const WITHOUT_GATEWAY = `gateway "${NO_GATEWAY}"`;
const FAILS = "ADD and DEL fail";

/** What happens under the Go plugin where a configuration has one of these; any other key of this plugin merely has no effect there. */
const underGo: Readonly<Record<string, string>> = {
  gcOnly: "every ADD fails, and leaves an address reserved",
  exclude: "excluded addresses are handed out",
  reserved: "reserved addresses are handed out to anybody, and a pod gets another than its own",
  requested: "a pod gets another address than it requests by a name",
  rangesFile: FAILS,
  partition: FAILS,
  repeatedAdd: "a repeated ADD fails",
  [WITHOUT_GATEWAY]: FAILS,
  [SMALL_SUBNET]: FAILS,
};

/** What the Go plugin does not understand, such as `exclude`. */
export const notUnderstood: readonly string[] = Object.keys(underGo);

/**
 * Why the networks of this node need this plugin, a clause for each cause.
 *
 * @param name by which the configurations call it
 * @param otherwise what takes its place
 * @returns such as `/etc/cni/net.d/10-mynet.conf (network mynet) has exclude: under the Go plugin excluded addresses are …`
 */
export function needsOf(
  context: Requested,
  name: string,
  otherwise: "Go plugin" | "nothing",
): readonly string[] {
  const problems: ConfigurationProblem[] = [];
  const files = findPlaces(context).directories.flatMap((directory) =>
    readConfigurationFiles(context.system, directory, problems),
  );
  const read = configurationsIn(context.system, files, problems, new Set([name]));
  const needs = read.flatMap(({ source, document }) => {
    const ipam = valueInAnyCase(document, "ipam");
    if (textOf(valueInAnyCase(ipam, "type")) !== name) return [];
    const network = textOf(exactMember(document, "name")) || "without a name";
    const used = `${source} (network ${network})`;
    if (otherwise === "nothing") return [`${used} names ${name}, and there is no other to restore`];
    return featuresOf(document, ipam).map(
      (feature) => `${used} has ${feature}: under the Go plugin ${underGo[feature]}`,
    );
  });
  const unread = problems.filter(({ source }) => read.every((file) => source !== file.source));
  const maybe = unread.map(({ source, problem }) => `${source} cannot be read: ${problem}`);
  return [...new Set([...needs, ...maybe])];
}

/**
 * The features in use that another plugin lacks. Each key is looked at by itself, so that an invalid one, or Calico's
 * `usePodCidr`, hides no other.
 */
function featuresOf(document: JsonObject, ipam: Json | undefined): readonly string[] {
  const sets = listOf(valueInAnyCase(ipam, "ranges")) as readonly Json[];
  const ranges = [ipam, ...sets.flatMap((set) => listOf(set) as readonly Json[])];
  const gateways = ranges.map((range) => valueInAnyCase(range, "gateway"));
  return [
    ...notUnderstood.filter((key) =>
      isSet(valueInAnyCase(key === "gcOnly" ? document : ipam, key)),
    ),
    ...(gateways.includes(NO_GATEWAY) ? [WITHOUT_GATEWAY] : []),
    ...(ranges.some(isSmall) ? [SMALL_SUBNET] : []),
  ];
}

/** Whether a key has another value than those that turn it off. */
function isSet(value: Json | undefined): boolean {
  const off: readonly unknown[] = [undefined, null, false, 0, "", "error"];
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return !off.includes(value) && !isEmpty;
}

function isSmall(range: Json | undefined): boolean {
  const subnet = parsePrefix(textOf(valueInAnyCase(range, "subnet")));
  return subnet !== undefined && subnet.length > bitsOf(subnet.address.family) - 2;
}
