import type { Command, Context, Report } from "../../cli/command/command.ts";
import { inLines } from "../../cli/output/escape.ts";
import { runChecks } from "../check/checks.ts";
import { logUncertainty, openNode } from "../node.ts";
import { replaceFile } from "../temporary-files.ts";
import { formatExposition } from "./exposition.ts";
import { measure } from "./measurements.ts";

/** `metrics`: prints metrics for Prometheus. */
export const metrics: Command = {
  name: "metrics",
  operands: "[NETWORK]",
  findsNetworks: true,
  summary: "print metrics in the Prometheus text format",
  description: [
    "Prints the capacity of each range and its used addresses, the last calls that failed, the findings of check and the last run of gc, for one network or all. What is not known has no sample, rather than 0.",
    "With --output it writes a file instead, atomically, for the textfile collector of node_exporter, which reads files with the suffix .prom. A timer, alert rules and a dashboard are in conf-examples/operator.",
    'JSON: {"metrics": [{"name", "type": "gauge", "help", "samples": [{"labels": {name: text}, "value": number}]}]}.',
  ],
  options: [
    { name: "--output", value: "FILE", summary: "replace FILE atomically instead of printing" },
  ],
  examples: [
    { line: "host-local metrics", effect: "print the metrics of all networks" },
    {
      line: "host-local metrics --output /var/lib/prometheus/node-exporter/cni-ipam.prom",
      effect: "write the metrics from a timer, on Debian",
    },
  ],
  run: measureNetworks,
};

function measureNetworks(context: Context): Report {
  const { system } = context;
  const node = openNode(context, context.operands[0]);
  logUncertainty(node);
  const measured = measure(node, runChecks(node));
  const output = context.option("--output");
  if (output !== undefined) {
    replaceFile(system, "--output", output, formatExposition(measured));
  }
  return {
    exitCode: 0,
    document: () => ({ metrics: measured }),
    text: () => (output === undefined ? inLines(formatExposition(measured), false) : ""),
  };
}
