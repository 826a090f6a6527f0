/** The file with the ranges of this node, `ipam.rangesFile`. */

import { CniError, internalError } from "../cni/error.ts";
import { isObject, type Json, kindOf, parseJson } from "../cni/json.ts";
import { findSyntaxError, lineAndColumn } from "../cni/json-syntax.ts";
import { rangeSetsIn } from "../ipam/range-fields.ts";
import { makeRangeSets, type RangeSetSpec } from "../ipam/range-set.ts";
import { LARGEST_FILE, type System } from "../system/system.ts";
import { flannelSubnets, isSubnetEnv } from "./subnet-env.ts";

/** The number of names that an error lists at most. */
const MAX_NAMES = 10;

const FORMS = "a JSON object of range sets by network name, or flannel's subnet.env";

/**
 * The range sets of a network: from a JSON object by network name, as `ipam.ranges` has them, or the subnets in flannel's
 * `subnet.env`, whatever the network.
 *
 * @example { "mynet": [[{ "subnet": "10.244.3.0/24" }], [{ "subnet": "fd00:10:244:3::/64" }]] }
 * @throws CniError 999 where the file is missing or malformed, or has no ranges for the network; the message names it
 */
export function rangeSetsInFile(
  files: Pick<System, "readFile">,
  path: string,
  network: string,
): readonly RangeSetSpec[] {
  const text = readText(files, path);
  try {
    const specs = isSubnetEnv(text) ? setsOfFlannel(text) : setsOfNetwork(parsed(text), network);
    // These ranges are checked alone first, so that an error in them names this file.
    makeRangeSets(specs, undefined);
    return specs.map((spec) => ({ ...spec, path: `${spec.path} in ${path}` }));
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw internalError(`invalid rangesFile ${path}: ${error.message}`, error.details);
  }
}

function readText(files: Pick<System, "readFile">, path: string): string {
  try {
    return files.readFile(path, LARGEST_FILE);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw internalError(
      `cannot read rangesFile: ${error.message}`,
      `expected ${FORMS}, at the path in ipam.rangesFile`,
    );
  }
}

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const found = findSyntaxError(text);
    const place = found === undefined ? "" : `${lineAndColumn(text, found.offset)}: `;
    throw invalid(`${place}${error.message}`);
  }
}

function setsOfNetwork(document: Json, network: string): readonly RangeSetSpec[] {
  if (!isObject(document)) throw invalid(`expected an object, found ${kindOf(document)}`);
  const names = Object.keys(document);
  // Unlike the keys of a configuration, names of networks differ in their letter case.
  const value = names.includes(network) ? document[network] : undefined;
  const specs = rangeSetsIn(value == null ? undefined : { value, path: network });
  if (specs.length > 0) return specs;
  const others = names.slice(0, MAX_NAMES).join(", ") || "none";
  throw internalError(
    `no ranges for network ${network}`,
    `expected a list of range sets as its member ${network}; the networks in it are: ${others}${names.length > MAX_NAMES ? " and others" : ""}`,
  );
}

function setsOfFlannel(text: string): readonly RangeSetSpec[] {
  const specs = flannelSubnets(text).map(({ variable: path, subnet }) => ({
    path,
    ranges: [{ path, subnet, rangeStart: undefined, rangeEnd: undefined, gateway: undefined }],
  }));
  if (specs.length > 0) return specs;
  throw invalid("neither FLANNEL_SUBNET nor FLANNEL_IPV6_SUBNET is set");
}

function invalid(message: string): CniError {
  return internalError(message, `expected ${FORMS}`);
}
