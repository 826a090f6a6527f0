import {
  type Command,
  CommandError,
  type Context,
  type Report,
} from "../../cli/command/command.ts";
import { plural } from "../../cli/output/plural.ts";
import { CniError } from "../../cni/error.ts";
import { isSystemError } from "../../system/system.ts";
import { releaseOrLog } from "../held/release.ts";
import { findNode } from "../node.ts";
import { runChecks } from "./checks.ts";
import {
  type Code,
  type Finding,
  MOST_LISTED,
  remedyOf,
  type Severity,
  severityOf,
} from "./finding.ts";
import { formatFindings, problemLine } from "./finding-text.ts";
import { formatRemedyCommand } from "./remedy-command.ts";

/** `check`: checks running pods, reservations, ranges and bridges. */
export const check: Command = {
  name: "check",
  operands: "[NETWORK]",
  findsNetworks: true,
  summary: "check pods, reservations, ranges and bridges, and print remedies",
  description: [
    "Looks for problems, each with a code, a remedy and its commands; without --repair it changes nothing and takes no lock.",
    "Pods: a running pod whose address has no reservation, or is also used by another pod, or that is cut off from its bridge.",
    "Reservations: leaked, empty, malformed or out of range; several of one attachment; files that others can write to.",
    "Calls: whether ADD or DEL fails now, with the error and since when, and whether the last pods gave their addresses back within a second. Failed calls are kept in /run/host-local until the node restarts. An ADD that succeeds ends what is said of ADD, a DEL that releases the container's addresses what is said of that container.",
    "ADD: whether every ADD of a network fails, by the same code as STATUS: its data directory cannot be written, a file that the configuration names cannot be read, or a range has no address. What this user or container cannot tell is said.",
    "Ranges: 90 % in use; shared by two networks, or by two nodes with a partition; with addresses or networks of the node itself, or of its routers.",
    "Node: a bridge with a wrong address; a configuration that is invalid, or that no runtime uses; a key that nothing reads; a plugin that another installer has replaced, that is not where the runtime is configured to look for it, or that cannot be started.",
    "Which pods are running is determined from libcni's cache, the network namespaces that it names, and those of running processes. What is wrong with a running pod is looked at again for two seconds, since a DEL may be under way. Reservations of the last ten minutes are not reported as leaked, nor any during the first ten minutes after a restart of the node: leaks-unknown says of how many that is.",
    "As root of the node, outside of a container or unit, it starts the plugins that configurations name, with CNI_COMMAND=VERSION and for at most two seconds each, if nobody but root can write to any part of their paths: what the kernel says is the finding.",
    "With --repair it removes, under the lock, reservations that have been empty for ten seconds and whose address no live container has. A reservation with any content stays.",
    "Exit code 1 means errors or warnings (with --repair: unrepaired ones); findings of severity info leave it at 0. With --node-problem-detector it prints a single line of at most 80 characters, also with exit code 2, which node-problem-detector reports as unknown; so it ends where nothing is wrong, but whether an ADD works cannot be told. A full range alone is no problem there, only an ADD that fails.",
    'JSON: {"findings": [{"code", "severity": "error"|"warning"|"info", "network", "path", "message", "remedy", "commands": [text], "repaired": boolean}], "omitted": number, "counts": {"error", "warning", "info", "repaired"}, "networks": [names]}.',
  ],
  options: [
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

/** The exit code that is neither OK nor a problem to node-problem-detector. */
const UNKNOWN = 2;

/**
 * The codes that are no condition of a node: with `maxPods` as `capacity` has it, a range may be full. A failing ADD is one.
 */
const BY_DESIGN: readonly Code[] = ["range-full", "range-nearly-full"];

function checkNetworks(context: Context): Report {
  if (!context.has("--node-problem-detector")) return report(context);
  try {
    return report(context);
  } catch (error) {
    if (error instanceof CommandError || error instanceof CniError || isSystemError(error)) {
      context.system.writeStandardOutput(problemLine("check failed", error.message));
    }
    throw error;
  }
}

function report(context: Context): Report {
  const node = findNode(context, context.operands[0]);
  const findings = runChecks(node);
  const repaired = context.has("--repair") ? repair(context, findings) : new Set<Finding>();
  const left = findings.filter((finding) => !repaired.has(finding));
  const isCondition = context.has("--node-problem-detector");
  const counted = isCondition ? left.filter(({ code }) => !BY_DESIGN.includes(code)) : left;
  const counts = countsOf(counted);
  const whereNoProblem = isCondition && left.some(isAddUnknown) ? UNKNOWN : 0;
  return {
    exitCode: counts.error + counts.warning > 0 ? 1 : whereNoProblem,
    document: () => {
      const shown = listed(findings);
      return {
        findings: shown.map((finding) => describe(context, finding, repaired.has(finding))),
        omitted: findings.length - shown.length,
        counts: { ...counts, repaired: repaired.size },
        networks: node.asked.map(({ files }) => files.network),
      };
    },
    text: () =>
      isCondition ? problemLine(...summarize(counted)) : formatFindings(context, findings, left),
  };
}

/**
 * Removes empty reservations, as far as they are unchanged.
 *
 * @returns the findings on those that are gone
 */
function repair(context: Context, findings: readonly Finding[]): ReadonlySet<Finding> {
  const repairable = findings.filter(({ isRepairable }) => isRepairable === true);
  const files = repairable.flatMap(({ file }) => file ?? []);
  const removed = new Set(
    [...Map.groupBy(files, ({ network }) => network)].flatMap(([network, here]) =>
      releaseOrLog(context, network, "check", here),
    ),
  );
  return new Set(repairable.filter(({ file }) => file !== undefined && removed.has(file)));
}

/** The findings that JSON lists. */
function listed(findings: readonly Finding[]): readonly Finding[] {
  const same = Map.groupBy(findings, ({ code, network }) => `${code} ${network}`);
  const shown = new Set([...same.values()].flatMap((own) => own.slice(0, MOST_LISTED)));
  return findings.filter((finding) => shown.has(finding));
}

function describe(context: Context, finding: Finding, isRepaired: boolean): object {
  const { code, network, path, message, commands = [] } = finding;
  return {
    code,
    severity: severityOf(finding),
    network,
    path,
    message,
    remedy: remedyOf(finding),
    commands: commands.map((command) => formatRemedyCommand(context, command)),
    repaired: isRepaired,
  };
}

/** The number of findings of each severity. */
function countsOf(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const of = (severity: Severity): number =>
    findings.filter((finding) => severityOf(finding) === severity).length;
  return { error: of("error"), warning: of("warning"), info: of("info") };
}

/** Whether a check could not ask what it is there to ask first. */
function isAddUnknown({ code }: Finding): boolean {
  return code === "add-unknown";
}

/** The counts come first, since the line may be cut off. */
function summarize(findings: readonly Finding[]): readonly [string, string] {
  const codes = findings
    .filter((finding) => severityOf(finding) !== "info")
    .map(({ code }) => code);
  if (codes.length > 0) {
    const { error, warning } = countsOf(findings);
    return [
      `${plural(error, "error")}, ${plural(warning, "warning")}`,
      [...new Set(codes)].join(", "),
    ];
  }
  const unknown = findings.find(isAddUnknown);
  if (unknown === undefined) return ["OK", "host-local check found no problems"];
  return ["cannot tell", [unknown.network, unknown.message].filter(Boolean).join(": ")];
}
