import { type Command, CommandError, type Context, type Report } from "../command/command.ts";
import { findNetworks } from "../node/networks.ts";
import { bashCompletion } from "./completion-bash.ts";
import { zshCompletion } from "./completion-zsh.ts";

/**
 * `completion`: a script that lets a shell complete command lines.
 *
 * @param commands all of them, this one among them
 */
export function completionOf(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    operands: "bash|zsh|networks",
    operandCount: { least: 1, most: 1 },
    summary: "print a script for a shell that completes command lines",
    description: [
      "Prints completion for bash or for zsh. The scripts themselves ask for networks: the names of all that are found, a line each.",
    ],
    options: [],
    examples: [
      { line: "source <(host-local completion bash)", effect: "completion in this shell" },
      {
        line: "host-local completion bash > /etc/bash_completion.d/host-local",
        effect: "for everybody, with bash",
      },
      {
        line: "host-local completion zsh > /usr/share/zsh/vendor-completions/_host-local",
        effect: "for everybody, with zsh",
      },
    ],
    run: (context) => {
      const [wanted = ""] = context.operands;
      switch (wanted) {
        case "bash":
          return script(bashCompletion(commands()));
        case "zsh":
          return script(zshCompletion(commands()));
        case "networks":
          return networkNames(context);
        default:
          throw new CommandError(`completion: expected bash, zsh or networks; found ${wanted}`);
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
