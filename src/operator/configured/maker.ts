/** Which runtime wrote a configuration for a network of its own. */

import type { FoundNetwork } from "./found-network.ts";

/** The runtime whose own network this is, by the names of its configuration and bridge; `undefined` for any other. */
export function makerOf({
  source = "",
  bridge,
}: Pick<FoundNetwork, "source" | "bridge">): "podman" | "nerdctl" | undefined {
  const file = source.slice(source.lastIndexOf("/") + 1);
  const isOf = (runtime: string, directory: string): boolean =>
    file.includes(runtime) || source.includes(directory) || bridge?.name.includes(runtime) === true;
  if (isOf("podman", "/containers/")) return "podman";
  return isOf("nerdctl", "/nerdctl/") ? "nerdctl" : undefined;
}
