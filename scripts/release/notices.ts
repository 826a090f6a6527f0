/** The file THIRD-PARTY-NOTICES: the works of others in an executable, with their licences. */

import type { BuiltVariant, Source } from "./release.ts";

const RULE = "=".repeat(78);

/** Writes the notices for an executable. */
export function noticesFor({ flavour, components }: BuiltVariant, source: Source): string {
  const list = components.map(({ name, version, license }) => `${name} ${version} (${license})`);
  return [
    "host-local is under the Apache License 2.0, see LICENSE. This executable of it also contains:",
    list.map((line) => `  ${line}`).join("\n"),
    ...(flavour === "native" ? [relinking(source)] : []),
    ...components.map(
      ({ licenseText }, index) => `${RULE}\n${list[index]}\n${RULE}\n\n${licenseText.trim()}`,
    ),
    "",
  ].join("\n\n");
}

/** LGPL 2.1, section 6: who gets a statically linked executable can link it with a changed library. */
function relinking({ version, commit }: Source): string {
  return `The GNU C Library is linked statically and is under the GNU Lesser General
Public License 2.1 or later. Its section 6 asks that you can link this
executable with a changed version of that library: the whole source of
host-local ${version} (commit ${commit})
with its build scripts, of which \`npm run build:native\` links the executable
again, is offered where you got this file. You may modify host-local for your
own use and reverse engineer it to debug such modifications. The source of the
GNU C Library is that of the Debian package in the file's SBOM.
libgcc is under the GNU General Public License with the GCC Runtime Library
Exception, which asks for nothing here.`;
}
