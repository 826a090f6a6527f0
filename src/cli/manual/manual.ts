/** The manual page, in troff's man macros, from the definitions of the commands. */

import type { Command, Example, Option } from "../command/command.ts";
import { generalOptions, NETWORK_DEFAULTS, networkOptions } from "../command/common-options.ts";
import { formatOption, SUMMARY, synopsisOf } from "./help.ts";

/** The sections after the commands: headings, each with terms and their descriptions. */
const closingSections: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    "EXIT STATUS",
    [
      ["0", "Success, and no problems were found."],
      ["1", "Problems were found, nothing was found, or a change was not confirmed."],
      ["2", "An error: wrong usage, invalid input, or a failed system call."],
    ],
  ],
  [
    "ENVIRONMENT",
    [
      ["CNI_COMMAND", "If set, host-local runs as a CNI plugin and ignores its arguments."],
      [
        "NETCONFPATH",
        "The directory of network configurations, unless --conf-dir is given. With it, the configurations of containerd and CRI-O are not asked.",
      ],
      ["COLUMNS", "The width of help and, on a terminal, of tables."],
      ["NO_COLOR", "If set, the output is not coloured."],
      ["TERM", "If it is dumb, the output has no control sequences."],
    ],
  ],
  [
    "FILES",
    [
      ["/etc/cni/net.d", "Network configurations: *.conf, *.conflist and *.json."],
      [
        "/etc/containerd/config.toml, /etc/crio/crio.conf, /etc/crio/crio.conf.d",
        "What containerd and CRI-O say there of the directories of configurations and plugins, as do k3s, RKE2 and MicroK8s in their own files.",
      ],
      [
        "/var/lib/cni/networks/NETWORK/ADDRESS",
        "A reservation: container id and interface. The configuration may set another directory with ipam.dataDir.",
      ],
      [
        "/var/lib/cni/networks/.host-local",
        "The journal and records of gc, which are made anew, and history, sticky addresses and what is known from before this boot, which are lost with it. It may be deleted while no call runs.",
      ],
      ["/var/lib/cni/results", "The cache of libcni, which names the pods."],
    ],
  ],
];

/**
 * Formats the page.
 *
 * @param version such as `v1.0.0`
 */
export function manualPage(commands: readonly Command[], version: string): string {
  return [
    `.TH HOST\\-LOCAL 8 "" "host\\-local ${escapeText(version)}" "System Administration"`,
    ".SH NAME",
    `host\\-local \\- ${escapeText(SUMMARY)}`,
    ".SH SYNOPSIS",
    ...commands.flatMap((command, at) => [...(at === 0 ? [] : [".br"]), bold(synopsisOf(command))]),
    ".SH DESCRIPTION",
    ...text(
      "Container runtimes call host-local as a CNI plugin, with CNI_COMMAND set and a network configuration on standard input. With arguments, and CNI_COMMAND unset, it is the operator tool described here. It finds networks in the configuration directory and in the data directories. Called by the name static it is the CNI plugin of that name, without commands.",
    ),
    ".SH OPTIONS",
    "All commands take these options:",
    ...generalOptions.flatMap(optionEntry),
    ".PP",
    "The commands that find networks take these, too:",
    ...networkOptions.flatMap(optionEntry),
    ".PP",
    ...text(NETWORK_DEFAULTS),
    ".SH COMMANDS",
    ...commands.flatMap(commandSection),
    ...closingSections.flatMap(([heading, entries]) => [
      `.SH ${heading}`,
      ...entries.flatMap(([term, description]) => entry(bold(term), description)),
    ]),
    "",
  ].join("\n");
}

function commandSection({
  name,
  operands,
  usage = operands,
  summary,
  description,
  options,
  examples,
}: Command): readonly string[] {
  return [
    `.SS ${bold(`${name} ${usage}`.trim())}`,
    ...text(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    ...description.flatMap((paragraph) => [".PP", ...text(paragraph)]),
    ...options.flatMap(optionEntry),
    ...examples.flatMap(example),
  ];
}

function optionEntry(option: Option): readonly string[] {
  return entry(bold(formatOption(option)), option.summary);
}

function entry(term: string, description: string): readonly string[] {
  return [".TP", term, ...text(description)];
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

/** A paragraph, one line per sentence as is usual in troff. */
function text(paragraph: string): readonly string[] {
  return paragraph.split(/(?<=[.:;]) /).map((sentence) => guard(escapeText(sentence)));
}

function bold(words: string): string {
  return `\\fB${escapeText(words)}\\fR`;
}

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};

/** Escapes characters that troff would print differently. */
function escapeText(words: string): string {
  return words.replace(/[\\\-'`^~]/g, (character) => escapes[character] ?? character);
}

/** Keeps troff from taking a line of text for a request. */
function guard(line: string): string {
  return line.startsWith(".") ? `\\&${line}` : line;
}
