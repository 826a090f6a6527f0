import { type Command, type Option, UsageError } from "../command/command.ts";
import { offersFor } from "./completion-offers.ts";
import { completionScripts } from "./completion-scripts.ts";

const lineOption: Option = {
  name: "--line",
  value: "LINE",
  summary: "print what may stand at the end of LINE, for the scripts",
};

const shells = Object.keys(completionScripts);

/** `completion`: prints a shell completion script, or what one asks for. */
export const completion: Command = {
  name: "completion",
  operands: `[${shells.join("|")}]`,
  summary: "print a shell completion script",
  description: [
    "Prints the completion script for bash, zsh or fish. The scripts call completion with --line, which prints the commands, options and values that may follow, one per line, and after a blank what they mean; it reads nothing of the node.",
  ],
  options: [lineOption],
  examples: [
    { line: "source <(host-local completion bash)", effect: "enable completion in this shell" },
    {
      line: "host-local completion bash > /etc/bash_completion.d/host-local",
      effect: "enable completion for all users of bash",
    },
    {
      line: "host-local completion zsh > /usr/share/zsh/vendor-completions/_host-local",
      effect: "enable completion for all users of zsh",
    },
    {
      line: "host-local completion fish > /usr/share/fish/vendor_completions.d/host-local.fish",
      effect: "enable completion for all users of fish",
    },
  ],
  run: (context) => {
    const line = context.option(lineOption.name);
    if (line !== undefined) {
      const offered = offersFor(line, context.commands);
      const text = offered.map((offer) => `${offer.join(" ")}\n`).join("");
      return { exitCode: 0, document: () => ({ offered }), text: () => text };
    }
    const [operand = "none"] = context.operands;
    for (const [shell, script] of Object.entries(completionScripts)) {
      if (shell !== operand) continue;
      return { exitCode: 0, document: () => ({ script }), text: () => script };
    }
    throw new UsageError(`expected one of ${shells.join(", ")}, found ${operand}`);
  },
};
