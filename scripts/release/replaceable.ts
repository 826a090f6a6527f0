/** What a new release may replace: an older one, and nothing else. */

import { existsSync, readdirSync } from "node:fs";

/** What ends the name of a file that begins with the project's. */
const OWN =
  /^host-local[-_][\w.~+-]+\.(?:tgz(?:\.sha(?:256|512))?|cdx\.json|deb|rpm|oci\.tar|yaml|openvex\.json|intoto\.jsonl)$/;

/** What docs/releasing.md puts beside it to publish: the sources. */
const SOURCES = /^(?:host-local-v[\w.-]+-source\.tar\.gz|glibc_[\w.~+-]+\.(?:dsc|asc|tar\.[gx]z))$/;

/** A signature lies beside what it is about. */
const SIGNATURE = /\.(?:asc|sig|minisig|sigstore|sigstore\.json|pem)$/;

const SUMS = "SHA256SUMS";

/**
 * Checks that a directory may be removed for a release: it is not there, is empty, or is a release of any version.
 *
 * @param directory its path
 * @throws where it has anything that no release has; the first of these is named
 */
export function requireReplaceable(directory: string): void {
  if (!existsSync(directory)) return;
  const entries = readdirSync(directory, { withFileTypes: true });
  if (entries.length === 0) return;
  const other = entries.find((entry) => !entry.isFile() || !isOfRelease(entry.name));
  const isRelease = entries.some(({ name }) => name === SUMS);
  if (isRelease && other === undefined) return;
  const reason = other === undefined ? `it has no ${SUMS}` : `no release has its ${other.name}`;
  throw new Error(
    `${directory} is neither empty nor a release (${reason}), so it is not replaced: choose another directory.`,
  );
}

function isOfRelease(name: string): boolean {
  const signed = name.replace(SIGNATURE, "");
  return [name, signed].some((file) => file === SUMS || OWN.test(file) || SOURCES.test(file));
}
