/** The operator's own commands in the history. */

import { DEFAULT_HISTORY_BYTES } from "../../ipam/config.ts";
import { type HistoryCall, hasHistory } from "../../store/history/history-file.ts";
import type { HistoryVerb } from "../../store/history/history-record.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import type { FoundNetwork } from "./networks.ts";
import { shellCommand } from "./next-command.ts";

/** How the history describes this command; `undefined` if the network has none: neither configured nor on disk. */
export function historyCall(
  system: OperatorSystem,
  { files, historyBytes }: Pick<FoundNetwork, "files" | "historyBytes">,
  verb: HistoryVerb,
): HistoryCall | undefined {
  if (historyBytes === undefined && !hasHistory(files)) return undefined;
  return {
    maxBytes: historyBytes ?? DEFAULT_HISTORY_BYTES,
    verb,
    pod: "",
    caller: () => shellCommand(["host-local", ...system.arguments]),
  };
}
