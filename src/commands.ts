/** All commands, in the order of the help. */

import type { Command } from "./cli/command/command.ts";
import { completion } from "./cli/manual/completion.ts";
import { man } from "./cli/manual/man.ts";
import { version } from "./cli/manual/version.ts";
import { audit } from "./cluster/audit/audit.ts";
import { plan } from "./cluster/plan/plan.ts";
import { agent } from "./operator/agent/agent.ts";
import { capacity } from "./operator/capacity/capacity.ts";
import { check } from "./operator/check/check.ts";
import { gc } from "./operator/gc/gc.ts";
import { history } from "./operator/history/history.ts";
import { install } from "./operator/install/install.ts";
import { metrics } from "./operator/metrics/metrics.ts";
import { networks } from "./operator/networks/networks.ts";
import { list } from "./operator/reservations/list.ts";
import { release } from "./operator/reservations/release.ts";
import { show } from "./operator/reservations/show.ts";

export const commands: readonly Command[] = [
  list,
  show,
  history,
  networks,
  capacity,
  plan,
  audit,
  check,
  gc,
  release,
  metrics,
  agent,
  install,
  completion,
  man,
  version,
];
