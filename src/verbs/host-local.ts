import type { Plugin } from "../cni/plugin.ts";
import { add } from "./add.ts";
import { check } from "./check.ts";
import { del } from "./del.ts";
import { gc } from "./gc.ts";
import { status } from "./status.ts";

/** The `host-local` plugin, which reserves addresses of ranges on this node. */
export const hostLocal: Plugin = {
  name: "host-local",
  hint: "With arguments it is a tool for operators: host-local --help\n",
  add,
  del,
  check,
  gc,
  status,
};
