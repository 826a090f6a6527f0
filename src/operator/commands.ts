/** All commands, in the order of the overview. */

import { audit } from "./audit.ts";
import { capacity } from "./capacity.ts";
import { check } from "./check.ts";
import type { Command } from "./command.ts";
import { completionOf } from "./completion.ts";
import { gc } from "./gc.ts";
import { install } from "./install.ts";
import { list } from "./list.ts";
import { manOf } from "./man.ts";
import { metrics } from "./metrics.ts";
import { plan } from "./plan.ts";
import { release } from "./release.ts";
import { show } from "./show.ts";

export const commands: readonly Command[] = [
  list,
  show,
  capacity,
  plan,
  audit,
  check,
  gc,
  release,
  metrics,
  install,
  completionOf(() => commands),
  manOf(() => commands),
];
