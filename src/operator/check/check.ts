import { CniError, messageWithDetails } from "../../cni/error.ts";
import { isSystemError } from "../../system/system.ts";
import { type Command, CommandError, type Context, type Report } from "../command/command.ts";
import { type CheckResult, runChecks } from "./checks.ts";
import { type Finding, remedyOf, type Severity, severityOf } from "./finding.ts";
import { formatFindings, problemLine } from "./finding-text.ts";
import { type Repairs, repair } from "./repair.ts";

/** `check`: whether the store is as it should be. */
export const check: Command = {
  name: "check",
  operands: "[NETWORK]",
  operandCount: { least: 0, most: 1 },
  summary: "what is wrong with reservations, cursors, ranges and bridges, and what to do about it",
  description: [
    "Looks for empty, malformed and out-of-range reservations, duplicate owners, addresses and ranges that two networks share, cursors outside their range, bridges without the gateway's address, configurations that cannot be read, files that others may write, leftovers of killed calls, and an owner index that is wrong. Nothing is changed, and no lock is taken.",
    "With --repair it sets right, under the lock, what is provably safe to set right: reservations that have been empty for ten seconds, cursors outside their range, leftovers, the owner index. Of each file that it removes it makes a copy first, in DATA-DIR/.host-local/NETWORK/repaired/TIME. A reservation with any content stays: somebody may have written it.",
    "Exit code 1 means errors or warnings (with --repair: those that are left); what is only good to know leaves it at 0. With --node-problem-detector one line of at most 80 characters says so on standard output, also with exit code 2, which that program takes for unknown.",
    'JSON: {"findings": [{"code", "severity": "error"|"warning"|"info", "network", "path", "message", "remedy", "repairable", "repaired": null or what was done}], "counts": {"error", "warning", "info", "repaired"}, "networks": [names]}.',
  ],
  options: [
    { name: "--repair", summary: "set right what is safe to set right, after a copy" },
    {
      name: "--backup-dir",
      value: "DIR",
      summary: "where --repair puts its copies: DIR/NETWORK/TIME",
    },
    {
      name: "--node-problem-detector",
      summary: "print one line, as a custom plugin of node-problem-detector",
    },
  ],
  examples: [
    { line: "host-local check", effect: "all networks; changes nothing" },
    { line: "host-local check mynet --repair", effect: "sets right what is safe in one network" },
    {
      line: "host-local check --node-problem-detector",
      effect: "for conf-examples/operator/node-problem-detector.json",
    },
  ],
  run: checkNetworks,
};

function checkNetworks(context: Context): Report {
  if (!context.has("--node-problem-detector")) return examineAndRepair(context);
  try {
    return examineAndRepair(context);
  } catch (error) {
    if (error instanceof CommandError || error instanceof CniError || isSystemError(error)) {
      context.system.writeStandardOutput(problemLine("cannot look", error.message));
    }
    throw error;
  }
}

function examineAndRepair(context: Context): Report {
  const backupDir = context.option("--backup-dir");
  if (backupDir !== undefined && !context.has("--repair")) {
    throw new CommandError("check: --backup-dir is for --repair");
  }
  const result = runChecks(context, context.operands[0]);
  const repairs = context.has("--repair")
    ? repairAll(context, result, backupDir)
    : new Map<Finding, string>();
  const left = result.findings.filter((finding) => !repairs.has(finding));
  const counts = countsOf(left);
  return {
    exitCode: counts.error + counts.warning > 0 ? 1 : 0,
    document: {
      findings: result.findings.map((finding) => describe(finding, repairs)),
      counts: { ...counts, repaired: repairs.size },
      networks: result.directories.map(({ location }) => location.network),
    },
    text: context.has("--node-problem-detector")
      ? problemLine(...summary(left, counts))
      : formatFindings(context.system, result.findings, repairs),
  };
}

/** One network that is locked, or cannot be written, does not keep the others from being repaired. */
function repairAll(
  { system, log }: Context,
  { directories, findings }: CheckResult,
  backupDir: string | undefined,
): Repairs {
  const done: Repairs = new Map();
  for (const directory of directories) {
    try {
      repair(system, directory, findings, backupDir, done);
    } catch (error) {
      if (!(error instanceof CniError || isSystemError(error))) throw error;
      log(`host-local: ${directory.location.network}: ${messageWithDetails(error)}\n`);
    }
  }
  return done;
}

function describe(finding: Finding, repairs: Repairs): object {
  const { code, network, path, message } = finding;
  return {
    code,
    severity: severityOf(finding),
    network,
    path,
    message,
    remedy: remedyOf(finding),
    repairable: finding.repair !== undefined,
    repaired: repairs.get(finding) ?? null,
  };
}

function countsOf(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const of = (severity: Severity): number =>
    findings.filter((finding) => severityOf(finding) === severity).length;
  return { error: of("error"), warning: of("warning"), info: of("info") };
}

/** What matters most comes first, for the line is cut off. */
function summary(
  findings: readonly Finding[],
  { error, warning }: Readonly<Record<Severity, number>>,
): readonly [string, string] {
  const codes = findings.filter((one) => severityOf(one) !== "info").map(({ code }) => code);
  if (codes.length === 0) return ["OK", "host-local check found nothing wrong"];
  return [`${error} errors, ${warning} warnings`, [...new Set(codes)].join(", ")];
}
