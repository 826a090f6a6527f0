/** The text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/). */

import { decimal } from "../../ipam/decimal.ts";

/** Labels by name. */
export type Labels = Readonly<Record<string, string>>;

/** A value with its labels. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number | bigint;
}

/** A metric with its samples. */
export interface Metric {
  readonly name: string;
  readonly type: "gauge";
  /** A sentence. */
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Formats metrics; those without samples are left out. */
export function formatExposition(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(formatMetric)
    .join("");
}

function formatMetric({ name, type, help, samples }: Metric): string {
  const lines = [
    `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, value }) => `${name}${formatLabels(labels)} ${formatValue(value)}`),
  ];
  return `${lines.join("\n")}\n`;
}

function formatValue(value: number | bigint): string {
  return typeof value === "bigint" ? decimal(value) : String(value);
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
