import { type Command, CommandError, type Context, type Report } from "../command/command.ts";
import { findNetworks } from "../node/networks.ts";
import { bashCompletion } from "./completion-bash.ts";
import { zshCompletion } from "./completion-zsh.ts";

/**
 * `completion`: prints a shell completion script.
 *
 * @param commands all commands, including this one
 */
export function completionOf(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    operands: "bash|zsh|networks",
    operandCount: { least: 1, most: 1 },
    summary: "print a shell completion script",
    description: [
      "Prints the completion script for bash or zsh. The scripts call completion networks, which prints the name of each network on a line of its own.",
    ],
    options: [],
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
    ],
    run: (context) => {
      const [operand = ""] = context.operands;
      switch (operand) {
        case "bash":
          return script(bashCompletion(commands()));
        case "zsh":
          return script(zshCompletion(commands()));
        case "networks":
          return networkNames(context);
        default:
          throw new CommandError(`completion: expected bash, zsh or networks; found ${operand}`);
      }
    },
  };
}

function script(text: string): Report {
  return { exitCode: 0, document: { script: text }, text };
}

function networkNames(context: Context): Report {
  const { found } = findNetworks(context, undefined);
  const names = [...new Set(found.map(({ location }) => location.network))];
  return {
    exitCode: 0,
    document: { networks: names },
    text: names.map((name) => `${name}\n`).join(""),
  };
}
