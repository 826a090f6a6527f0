/** The supported versions of the CNI specification, and which of them each verb needs. */

import { CniError, ErrorCode } from "./error.ts";
import { goQuote } from "./go-quote.ts";

export const SUPPORTED_VERSIONS = [
  "0.1.0",
  "0.2.0",
  "0.3.0",
  "0.3.1",
  "0.4.0",
  "1.0.0",
  "1.1.0",
] as const;

export type SpecVersion = (typeof SUPPORTED_VERSIONS)[number];

/** The verbs that older configurations do not allow, with the version that introduced them. */
const introducedIn = { CHECK: [0, 4, 0], GC: [1, 1, 0], STATUS: [1, 1, 0] } as const;

type Numbers = readonly [number, number, number];

/** The output of VERSION. */
export function versionDocument(): string {
  return `${JSON.stringify({ cniVersion: "1.1.0", supportedVersions: SUPPORTED_VERSIONS })}\n`;
}

/**
 * Checks the version of a configuration for ADD or DEL; only the exact text is accepted, as in the Go plugin.
 *
 * @param text `cniVersion` as configured; empty means 0.1.0
 * @throws CniError 1 where it is not supported
 */
export function requireSupported(text: string): SpecVersion {
  const wanted = text === "" ? "0.1.0" : text;
  const found = SUPPORTED_VERSIONS.find((version) => version === wanted);
  if (found === undefined) {
    const supported = SUPPORTED_VERSIONS.map(goQuote).join(" ");
    throw new CniError(
      ErrorCode.incompatibleVersion,
      "incompatible CNI versions",
      `config is ${goQuote(wanted)}, plugin supports [${supported}]`,
    );
  }
  return found;
}

/**
 * Checks the version of a configuration for a verb that not every version has.
 *
 * @param text `cniVersion` as configured; empty means 0.1.0
 * @throws CniError 6 where the text is not a version, 1 where the verb is not allowed under it
 */
export function requireAllowed(verb: keyof typeof introducedIn, text: string): SpecVersion {
  const wanted = parseVersion(text === "" ? "0.1.0" : text);
  if (compare(wanted, introducedIn[verb]) < 0) {
    throw new CniError(ErrorCode.incompatibleVersion, `config version does not allow ${verb}`);
  }
  if (compare(wanted, [1, 1, 0]) > 0) {
    throw new CniError(ErrorCode.incompatibleVersion, `plugin version does not allow ${verb}`);
  }
  return requireSupported(text);
}

/** Whether results of `version` can carry only one address per family. */
export function allowsOneAddressPerFamily(version: SpecVersion): boolean {
  return version === "0.1.0" || version === "0.2.0";
}

function parseVersion(text: string): Numbers {
  const parts = text.split(".");
  if (parts.length > 3) {
    throw new CniError(
      ErrorCode.decodingFailure,
      `invalid version ${goQuote(text)}: too many parts`,
    );
  }
  const [major, minor, micro] = parts;
  return [numberOf(major, "major"), numberOf(minor, "minor"), numberOf(micro, "micro")];
}

function numberOf(part: string | undefined, name: string): number {
  if (part === undefined) return 0;
  const number = /^[+-]?[0-9]+$/.test(part) ? Number(part) : Number.NaN;
  if (Math.abs(number) < 2 ** 63) return number;
  const problem = Number.isNaN(number) ? "invalid syntax" : "value out of range";
  throw new CniError(
    ErrorCode.decodingFailure,
    `failed to convert ${name} version part ${goQuote(part)}: strconv.Atoi: parsing ${goQuote(part)}: ${problem}`,
  );
}

function compare(a: Numbers, b: Numbers): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
