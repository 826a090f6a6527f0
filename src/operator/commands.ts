/** All commands, in the order of the help. */

import { agent } from "./agent/agent.ts";
import { audit } from "./audit/audit.ts";
import { capacity } from "./capacity/capacity.ts";
import { check } from "./check/check.ts";
import type { Command } from "./command/command.ts";
import { gc } from "./gc/gc.ts";
import { history } from "./history/history.ts";
import { install } from "./install/install.ts";
import { completionOf } from "./manual/completion.ts";
import { manOf } from "./manual/man.ts";
import { version } from "./manual/version.ts";
import { metrics } from "./metrics/metrics.ts";
import { networks } from "./networks/networks.ts";
import { plan } from "./plan/plan.ts";
import { list } from "./reservations/list.ts";
import { release } from "./reservations/release.ts";
import { show } from "./reservations/show.ts";

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
  completionOf(() => commands),
  manOf(() => commands),
  version,
];
