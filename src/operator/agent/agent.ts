import type { Command, Context, Report } from "../../cli/command/command.ts";
import { formatDuration } from "../../cli/command/duration.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { shellCommand } from "../node/command-text.ts";
import { cacheOption } from "../node/results-cache.ts";
import { agentOptions, endpointOf, HEALTH, listenOption } from "./options.ts";
import { partsOf } from "./part.ts";
import { serviceOf } from "./service.ts";

/** `agent`: runs other commands again and again. */
export const agent: Command = {
  name: "agent",
  operands: "[NETWORK]",
  operandCount: { least: 0, most: 1 },
  findsNetworks: true,
  summary: "run gc, metrics and other commands on a schedule, where there are no systemd timers",
  description: [
    "Runs until it is terminated. Each part is a command of its own process: gc with --gc, metrics with --output and --listen, install with --keep-installed, capacity with --node-feature. A part that is not asked for does not run. All of them start at once, one after the other, and then at their intervals; one that fails starts again after a minute, and one that takes longer than two minutes is killed. A failure of one does not stop the others: a port in use is only logged, and tried again, too.",
    `--listen serves the metrics of the last run, or 503 if it failed, and ${HEALTH}: 200 if the last run of every part succeeded, otherwise 503, with a line for each. It knows GET only, has eight connections at a time, of which a ninth closes the oldest, and neither TLS nor authentication: use a loopback address, or one that only the monitoring reaches.`,
    "--keep-installed acts only if this program was installed in DIR and another one is there now, or none. After install --rollback or --uninstall it does nothing, and it does not replace another version of this program.",
    "Messages go to standard error, one line each, without a time: what was released or installed, and messages of a command that differ from those of its run before. SIGTERM and SIGINT end the agent at once, with exit code 0, also as the first process of a container.",
    "Exit codes: 0 it was terminated; 2 wrong usage.",
    'JSON, printed at the start: {"listen": null or {"address", "port", "path"}, "parts": [{"name", "interval": seconds, "command": [word]}]}.',
  ],
  options: [
    agentOptions.gc,
    agentOptions.liveCommand,
    agentOptions.grace,
    agentOptions.gcInterval,
    agentOptions.output,
    listenOption,
    agentOptions.keepInstalled,
    agentOptions.as,
    agentOptions.nodeFeature,
    agentOptions.resource,
    agentOptions.interval,
    cacheOption,
  ],
  examples: [
    {
      line: "host-local agent --gc --listen 127.0.0.1:9464/metrics",
      effect: "release leaked addresses by network namespaces, and serve the metrics",
    },
    {
      line: "host-local agent mynet --gc --live-command 'crictl pods -q' --keep-installed /opt/cni/bin",
      effect: "gc with the runtime's list; put the plugin back when another installer replaces it",
    },
    {
      line: "host-local agent mynet --node-feature /etc/kubernetes/node-feature-discovery/features.d",
      effect: "keep the number of pods up to date for the scheduler",
    },
  ],
  run,
};

function run(context: Context): Report {
  const { system, log } = context;
  const parts = partsOf(context);
  const endpoint = endpointOf(context);
  const rows = parts.map(({ name, interval, words }) => [
    name,
    formatDuration(interval),
    shellCommand(["host-local", ...words]),
  ]);
  return {
    exitCode: 0,
    document: {
      listen: endpoint ?? null,
      parts: parts.map(({ name, interval, words }) => ({
        name,
        interval: interval / 1000,
        command: ["host-local", ...words],
      })),
    },
    text: formatTable(columns("PART", "EVERY", "COMMAND"), rows),
    service: serviceOf(parts, endpoint, { now: () => system.now(), log }),
  };
}
