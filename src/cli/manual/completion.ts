import { formatAddress } from "../../ipam/address.ts";
import { mergeByDirectory } from "../../operator/node/network-directories.ts";
import { findNetworks } from "../../operator/node/networks.ts";
import { readReservations } from "../../operator/node/node-reservations.ts";
import { readPods } from "../../operator/node/pods.ts";
import { cacheOption } from "../../operator/node/results-cache.ts";
import { listReservations } from "../../store/reservations/reservation-file.ts";
import { type Command, type Context, type Report, UsageError } from "../command/command.ts";
import { bashCompletion } from "./completion-bash.ts";
import { fishCompletion } from "./completion-fish.ts";
import { type ListKind, listKinds, type Shell, shells } from "./completion-kind.ts";
import { zshCompletion } from "./completion-zsh.ts";

const scripts: Readonly<Record<Shell, (commands: readonly Command[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

const lists: Readonly<Record<ListKind, (context: Context) => readonly string[]>> = {
  networks: (context) => found(context).map(({ location }) => location.network),
  addresses: (context) =>
    found(context).flatMap(({ location }) =>
      listReservations(location).map(({ address }) => formatAddress(address)),
    ),
  pods: podNames,
  namespaces: (context) => podNames(context).map((pod) => pod.slice(0, pod.indexOf("/"))),
};

/**
 * `completion`: prints a shell completion script.
 *
 * @param commands all commands, including this one
 */
export function completionOf(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    operands: [...shells, ...listKinds].join("|"),
    operandCount: { least: 1, most: 1 },
    findsNetworks: true,
    summary: "print a shell completion script",
    description: [
      "Prints the completion script for bash, zsh or fish. The scripts call completion with networks, addresses, pods or namespaces, which prints those of this node, one per line.",
    ],
    options: [cacheOption],
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
      const [operand = ""] = context.operands;
      const shell = shells.find((name) => name === operand);
      if (shell !== undefined) return script(scripts[shell](commands()));
      const kind = listKinds.find((name) => name === operand);
      if (kind !== undefined) return names(kind, lists[kind](context));
      const expected = [...shells, ...listKinds].join(", ");
      throw new UsageError(`completion: expected one of ${expected}; found ${operand}`);
    },
  };
}

function script(text: string): Report {
  return { exitCode: 0, document: { script: text }, text };
}

/** A name that a shell would split or a terminal obey is left out. */
function names(kind: ListKind, all: readonly string[]): Report {
  const unique = [...new Set(all)].filter((name) => /^[\w.:/@%+-]+$/.test(name));
  return {
    exitCode: 0,
    document: { [kind]: unique },
    text: unique.map((name) => `${name}\n`).join(""),
  };
}

function found(context: Context) {
  return mergeByDirectory(findNetworks(context, undefined).found);
}

/** The pods that hold addresses, as `namespace/name`. */
function podNames(context: Context): readonly string[] {
  const pods = readPods(context);
  return found(context)
    .flatMap((network) => readReservations(context.system, network))
    .map(pods.of)
    .filter((pod) => pod !== "");
}
