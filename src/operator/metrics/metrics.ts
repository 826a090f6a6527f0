import { join, parentOf } from "../../store/location.ts";
import { isSystemError, type System } from "../../system/system.ts";
import { type Command, CommandError, type Context, type Report } from "../command/command.ts";
import { readDirectories } from "../node/directory-contents.ts";
import { findNetworks, logProblems } from "../node/networks.ts";
import { requireReadable } from "../node/node-reservations.ts";
import { formatExposition } from "./exposition.ts";
import { measure } from "./measurements.ts";

/** `metrics`: counts for Prometheus. */
export const metrics: Command = {
  name: "metrics",
  operands: "[NETWORK]",
  operandCount: { least: 0, most: 1 },
  summary: "how full every range is, in the text format of Prometheus",
  description: [
    "Prints how many addresses each range has, how many are used and free, and how many reservations are suspect or were found dead by gc, for all networks or one.",
    "With --output it writes a file instead, in one step, so that nobody reads half of it: for the textfile collector of node_exporter, which takes files whose names end in .prom. Rules for alerts and a dashboard are in conf-examples.",
    'JSON: {"metrics": [{"name", "type": "gauge"|"untyped", "help", "samples": [{"labels": {name: text}, "value": number}]}]}.',
  ],
  options: [
    { name: "--output", value: "FILE", summary: "write FILE, in one step, instead of printing" },
  ],
  examples: [
    { line: "host-local metrics", effect: "prints the metrics of all networks" },
    {
      line: "host-local metrics --output /var/lib/prometheus/node-exporter/cni-ipam.prom",
      effect: "for a timer, on Debian",
    },
  ],
  run: measureNetworks,
};

function measureNetworks(context: Context): Report {
  const { system } = context;
  const { found, bad } = findNetworks(context, context.operands[0]);
  logProblems(context, bad);
  const contents = readDirectories(system, found);
  for (const { reservations } of contents) requireReadable(reservations);
  const measured = measure(system, contents, bad);
  const text = formatExposition(measured);
  const output = context.option("--output");
  if (output !== undefined) replaceFile(system, output, text);
  return { exitCode: 0, document: { metrics: measured }, text: output === undefined ? text : "" };
}

/** In one step; under a name that the textfile collector passes over until it is whole. */
function replaceFile(system: System, path: string, text: string): void {
  requireFile(system, path);
  const name = path.slice(path.lastIndexOf("/") + 1);
  const temporary = join(parentOf(path), `.${name}.${system.processId()}`);
  create(system, temporary, text);
  try {
    system.rename(temporary, path);
  } catch (error) {
    system.unlink(temporary);
    throw error;
  }
}

/** A device, or a link to one, must not become a file. */
function requireFile(system: System, path: string): void {
  try {
    if (system.linkStatus(path).kind === "file") return;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return;
    throw error;
  }
  throw new CommandError(`metrics: --output: ${path} is there, and is no file`);
}

/** One of that name is from a killed process that had our id. */
function create(system: System, path: string, text: string): void {
  try {
    system.createFile(path, text, 0o644);
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
    system.unlink(path);
    system.createFile(path, text, 0o644);
  }
}
