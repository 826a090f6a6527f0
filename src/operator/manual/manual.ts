/** The manual page, in troff's man macros, from the same definitions as the help. */

import type { Command, Example, Option } from "../command/command.ts";
import { commonOptions } from "../command/common-options.ts";
import { SUMMARY } from "./help.ts";

/** Sections that no command defines: their headings, and of each entry what it is about and what is to be said. */
const closing: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    "EXIT STATUS",
    [
      ["0", "Nothing is wrong, or all was done."],
      ["1", "There are findings, or it was refused, or nothing was found."],
      ["2", "It could not look: wrong usage, or the machine refused."],
    ],
  ],
  [
    "ENVIRONMENT",
    [
      ["CNI_COMMAND", "Where it is set, this is a call of the plugin, whatever the arguments are."],
      ["NETCONFPATH", "Where network configurations are, unless --conf-dir says."],
      ["NO_COLOR", "Where it is set, nothing is coloured."],
    ],
  ],
  [
    "FILES",
    [
      ["/etc/cni/net.d", "Network configurations: *.conf, *.conflist and *.json."],
      [
        "/var/lib/cni/networks/NETWORK/ADDRESS",
        "A reservation: container id and interface. ipam.dataDir in the configuration names another directory.",
      ],
      ["/var/lib/cni/networks/.host-local", "An index, which may be deleted at any time."],
      ["/var/lib/cni/results", "The cache of libcni, which knows the pods."],
    ],
  ],
];

/**
 * Writes the page.
 *
 * @param version such as `v1.0.0`
 */
export function manualPage(commands: readonly Command[], version: string): string {
  return [
    `.TH HOST\\-LOCAL 8 "" "host\\-local ${escapeText(version)}" "System Administration"`,
    ".SH NAME",
    `host\\-local \\- ${escapeText(SUMMARY)}`,
    ".SH SYNOPSIS",
    ...commands.flatMap(synopsis),
    ".SH DESCRIPTION",
    ...text(
      "A container runtime calls host-local as a CNI plugin, with CNI_COMMAND and a network configuration on standard input. With arguments, and without CNI_COMMAND, it is the tool for operators that is described here. Networks are found in the configuration directory, and in the data directories.",
    ),
    ".SH OPTIONS",
    "Every command has these:",
    ...commonOptions.flatMap(optionEntry),
    ".SH COMMANDS",
    ...commands.flatMap(commandSection),
    ...closing.flatMap(([heading, entries]) => [
      `.SH ${heading}`,
      ...entries.flatMap(([what, said]) => entry(bold(what), said)),
    ]),
    "",
  ].join("\n");
}

function synopsis({ name, operands, options }: Command, at: number): readonly string[] {
  const words = [
    bold(`host-local ${name}`),
    italicNames(operands),
    options.length > 0 ? "[\\fIOPTION\\fR]..." : "",
  ];
  const line = words.filter((word) => word !== "").join(" ");
  return at === 0 ? [line] : [".br", line];
}

function commandSection({
  name,
  operands,
  summary,
  description,
  options,
  examples,
}: Command): readonly string[] {
  return [
    `.SS ${bold(name)} ${italicNames(operands)}`.trimEnd(),
    ...text(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    ...description.flatMap((paragraph) => [".PP", ...text(paragraph)]),
    ...options.flatMap(optionEntry),
    ...examples.flatMap(example),
  ];
}

function optionEntry({ name, value, summary }: Option): readonly string[] {
  const shown = value === undefined ? bold(name) : `${bold(name)} \\fI${escapeText(value)}\\fR`;
  return entry(shown, summary);
}

function entry(what: string, said: string): readonly string[] {
  return [".TP", what, ...text(said)];
}

function example({ line, effect }: Example): readonly string[] {
  return [
    ".PP",
    ...text(`${effect.charAt(0).toUpperCase()}${effect.slice(1)}:`),
    ".PP",
    ".RS 4",
    ".nf",
    guard(escapeText(line)),
    ".fi",
    ".RE",
  ];
}

/** A paragraph, a line for each sentence, as troff likes it. */
function text(paragraph: string): readonly string[] {
  return paragraph.split(/(?<=[.:;]) /).map((sentence) => guard(escapeText(sentence)));
}

function bold(words: string): string {
  return `\\fB${escapeText(words)}\\fR`;
}

/** `[NETWORK]` with its name in italics. */
function italicNames(operands: string): string {
  return operands
    .split(/([A-Z]+)/)
    .map((part, at) => (at % 2 === 1 ? `\\fI${part}\\fR` : escapeText(part)))
    .join("");
}

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};

/** What stands for itself on paper. */
function escapeText(words: string): string {
  return words.replace(/[\\\-'`^~]/g, (character) => escapes[character] ?? character);
}

/** A line of text that troff does not take for a request. */
function guard(line: string): string {
  return line.startsWith(".") ? `\\&${line}` : line;
}
