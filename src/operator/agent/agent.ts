import type { Command, Context, Report } from "../../cli/command/command.ts";
import { formatDuration } from "../../cli/command/duration.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { shellCommand } from "../next-command.ts";
import { endpointOf, HEALTH, listenOption, METRICS } from "./endpoint.ts";
import { serviceOf } from "./service.ts";
import { everyOption, tasksOf } from "./task.ts";

/** `agent`: runs other commands again and again. */
export const agent: Command = {
  name: "agent",
  operands: "COMMAND...",
  usage: "--every DURATION COMMAND [--every DURATION COMMAND]... [--listen ADDRESS:PORT]",
  summary: "run gc, metrics and other commands on a schedule, where there are no systemd timers",
  description: [
    "Runs until it is terminated. Each --every has an interval, and is followed by a task: a command of this program, with its options, as one word of the shell, such as 'gc mynet --yes --log'. It runs in a process of its own, whose output goes to the log. All tasks start at once, one after the other, and then at their intervals; one that takes longer than two minutes is killed, and one that fails starts again after a minute, or after the shortest interval if that is less. A failure of one does not stop the others: a port in use is only logged, and tried again, too.",
    `--listen serves at ${METRICS} the metrics of the last run, or 503 if it failed, where the metrics task has no --output; and ${HEALTH}: 200 if every task has run and its last run succeeded, otherwise 503, with a line for each. It knows GET only, has eight connections at a time, of which a ninth closes the oldest, and neither TLS nor authentication: use a loopback address, or one that only the monitoring reaches.`,
    "The log is standard error, without times: what the commands print, and a line of the agent when one begins to fail, or succeeds again. SIGTERM and SIGINT end the agent at once, with exit code 0, also as the first process of a container.",
    "Exit codes: 0 it was terminated; 2 wrong usage.",
  ],
  options: [everyOption, listenOption],
  examples: [
    {
      line: "host-local agent --listen 127.0.0.1:9464 --every 15m 'gc --yes --log' --every 1m metrics",
      effect: "release leaked addresses, and serve the metrics",
    },
    {
      line: `host-local agent --every 1m 'install /opt/cni/bin --if-replaced --yes' --every 15m "gc mynet --live-command 'crictl pods -q' --yes --log"`,
      effect: "put the plugin back when another installer replaces it; gc with the runtime's list",
    },
    {
      line: "host-local agent --every 1m 'capacity mynet --node-feature /etc/kubernetes/node-feature-discovery/features.d'",
      effect: "keep the number of pods up to date for the scheduler",
    },
  ],
  run,
};

function run(context: Context): Report {
  const { system, log, commands } = context;
  const tasks = tasksOf(
    context,
    commands.filter((command) => command !== agent),
  );
  const endpoint = endpointOf(context);
  return {
    exitCode: 0,
    document: () => ({
      listen: endpoint ?? null,
      tasks: tasks.map(({ name, interval, words }) => ({
        name,
        interval: interval / 1000,
        command: ["host-local", ...words],
      })),
    }),
    text: () => {
      const rows = tasks.map(({ name, interval, words }) => [
        name,
        formatDuration(interval),
        shellCommand(["host-local", ...words]),
      ]);
      return formatTable(columns("TASK", "EVERY", "COMMAND"), rows);
    },
    service: serviceOf(tasks, endpoint, { now: () => system.monotonic(), log }),
  };
}
