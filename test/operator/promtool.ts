/** promtool, Prometheus' own checker of its formats, if it is installed. */

import { spawnSync } from "node:child_process";

/** The reason for tap to skip what needs promtool, or false where there is one. */
export const skipWithoutPromtool: string | false =
  spawnSync("promtool", ["--version"]).status === 0
    ? false
    : "promtool is not installed; on Debian it is in the package prometheus.";
