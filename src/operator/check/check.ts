import {
  type Command,
  CommandError,
  type Context,
  type Report,
} from "../../cli/command/command.ts";
import { plural } from "../../cli/output/plural.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import { isSystemError } from "../../system/system.ts";
import { openWholeNode } from "../node/node.ts";
import { cacheOption } from "../node/results-cache.ts";
import { type CheckResult, runChecks } from "./checks.ts";
import { type Finding, networkOf, remedyOf, type Severity, severityOf } from "./finding.ts";
import { formatFindings, problemLine } from "./finding-text.ts";
import { repair } from "./repair.ts";

/** `check`: checks running pods, reservations, ranges and bridges. */
export const check: Command = {
  name: "check",
  operands: "[NETWORK]",
  operandCount: { least: 0, most: 1 },
  findsNetworks: true,
  summary: "check pods, reservations, ranges and bridges, and print remedies",
  description: [
    "Looks for running pods whose address is not reserved, or is used by another pod, too; leaked addresses; range sets of which 90 % are reserved, and those that are used again sooner than reuseDelaySeconds; empty, malformed and out-of-range reservations; duplicate owners; addresses and ranges that two networks share, or two nodes with a partition; bridges with a wrong address; invalid configurations; files that others can write to; and foreign ones. It changes nothing and takes no lock.",
    "Which pods are running is determined from libcni's cache, the network namespaces that it names, and those of running processes. If a pod seems to have no reservation, the check is repeated for two seconds, since a DEL may be under way. Reservations of the last ten minutes are not reported as leaked, nor any during the first ten minutes after a restart of the node.",
    "With --repair it removes, under the lock, reservations that have been empty for ten seconds. A reservation with any content is kept.",
    "Exit code 1 means errors or warnings (with --repair: unrepaired ones); findings of severity info leave it at 0. With --node-problem-detector it prints a single line of at most 80 characters, also with exit code 2, which node-problem-detector takes for unknown.",
    'JSON: {"findings": [{"code", "severity": "error"|"warning"|"info", "network", "path", "message", "remedy", "commands": [text], "repaired": boolean}], "counts": {"error", "warning", "info", "repaired"}, "networks": [names]}.',
  ],
  options: [
    cacheOption,
    { name: "--repair", summary: "remove empty reservations" },
    {
      name: "--node-problem-detector",
      summary: "print one line, as a custom plugin of node-problem-detector",
    },
  ],
  examples: [
    { line: "host-local check", effect: "check all networks; change nothing" },
    { line: "host-local check mynet --repair", effect: "repair one network" },
    {
      line: "host-local check --node-problem-detector",
      effect: "run from conf-examples/operator/node-problem-detector.json",
    },
  ],
  run: checkNetworks,
};

function checkNetworks(context: Context): Report {
  if (!context.has("--node-problem-detector")) return checkAndRepair(context);
  try {
    return checkAndRepair(context);
  } catch (error) {
    if (error instanceof CommandError || error instanceof CniError || isSystemError(error)) {
      context.system.writeStandardOutput(problemLine("check failed", error.message));
    }
    throw error;
  }
}

function checkAndRepair(context: Context): Report {
  const [name] = context.operands;
  const result = runChecks(openWholeNode(context, name), name);
  const repaired = context.has("--repair") ? repairAll(context, result) : new Set<Finding>();
  const unrepaired = result.findings.filter((finding) => !repaired.has(finding));
  const counts = countsOf(unrepaired);
  return {
    exitCode: counts.error + counts.warning > 0 ? 1 : 0,
    get document() {
      return {
        findings: result.findings.map((finding) => describe(finding, repaired)),
        counts: { ...counts, repaired: repaired.size },
        networks: result.directories.map(({ files }) => files.network),
      };
    },
    get text() {
      return context.has("--node-problem-detector")
        ? problemLine(...summarize(unrepaired, counts))
        : formatFindings(context.system, result.findings, repaired);
    },
  };
}

/** Repairs all networks. An error is only logged, so that the other networks are still repaired. */
function repairAll(
  { system, log }: Context,
  { directories, findings }: CheckResult,
): ReadonlySet<Finding> {
  const done = new Set<Finding>();
  for (const directory of directories) {
    try {
      repair(system, directory, findings, done);
    } catch (error) {
      if (!(error instanceof CniError || isSystemError(error))) throw error;
      log(`${directory.files.network}: ${messageWithDetails(error)}`);
    }
  }
  return done;
}

function describe(finding: Finding, repaired: ReadonlySet<Finding>): object {
  const { code, path, message, commands = [] } = finding;
  return {
    code,
    severity: severityOf(finding),
    network: networkOf(finding),
    path,
    message,
    remedy: remedyOf(finding),
    commands,
    repaired: repaired.has(finding),
  };
}

function countsOf(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const of = (severity: Severity): number =>
    findings.filter((finding) => severityOf(finding) === severity).length;
  return { error: of("error"), warning: of("warning"), info: of("info") };
}

/** The counts come first, since the line may be cut off. */
function summarize(
  findings: readonly Finding[],
  { error, warning }: Readonly<Record<Severity, number>>,
): readonly [string, string] {
  const codes = findings.filter((one) => severityOf(one) !== "info").map(({ code }) => code);
  if (codes.length === 0) return ["OK", "host-local check found no problems"];
  return [
    `${plural(error, "error")}, ${plural(warning, "warning")}`,
    [...new Set(codes)].join(", "),
  ];
}
