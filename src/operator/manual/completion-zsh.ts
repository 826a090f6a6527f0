/** Completion for zsh. */

import type { Command, Option } from "../command/command.ts";
import {
  allOptions,
  type Kind,
  operandKinds,
  operandWords,
  quote,
  valueKind,
} from "./completion-kind.ts";

const offers: Readonly<Record<Kind, string>> = {
  directories: "_files -/",
  files: "_files",
  networks: "_host_local_networks",
};

/** The script: to be put as `_host-local` into a directory of `$fpath`, or sourced after `compinit`. */
export function zshCompletion(commands: readonly Command[]): string {
  return `#compdef host-local
# zsh completion for host-local, written by: host-local completion zsh

# The program itself knows the networks, where the options before say.
_host_local_networks() {
    local -a networks where
    local option
    for option in --conf-dir --data-dir; do
        (( \${+opt_args[$option]} )) && where+=($option \${(Q)~opt_args[$option]})
    done
    networks=(\${(f)"$($program completion networks $where 2>/dev/null)"})
    compadd -a networks
}

_host-local() {
    local curcontext=$curcontext state line program=\${(Q)~words[1]}
    local -a commands
    typeset -A opt_args
    commands=(
${commands.map(({ name, summary }) => `        ${quote(`${name}:${summary}`)}`).join("\n")}
        'help:explain a command'
    )
    _arguments -C '1:command:->command' '*::argument:->argument' && return
    case $state in
        command)
            _describe command commands
            ;;
        argument)
            case $words[1] in
                help)
                    _describe command commands
                    ;;
${commands.map(commandCase).join("\n")}
            esac
            ;;
    esac
}

if [[ $funcstack[1] == _host-local ]]; then
    _host-local "$@"
else
    compdef _host-local host-local
fi
`;
}

function commandCase(command: Command): string {
  const specs = [...allOptions(command).map(optionSpec), ...operandSpecs(command)];
  const lines = specs.map((spec) => `                        ${quote(spec)}`);
  return [
    `                ${command.name})`,
    "                    _arguments \\",
    lines.join(" \\\n"),
    "                    ;;",
  ].join("\n");
}

function optionSpec(option: Option): string {
  const { name, value } = option;
  const summary = `[${option.summary.replace(/[[\]\\]/g, "\\$&")}]`;
  if (value === undefined) return `${name}${summary}`;
  const kind = valueKind(option);
  return `${name}=${summary}:${value}:${kind === undefined ? " " : offers[kind]}`;
}

function operandSpecs(command: Command): readonly string[] {
  const words = operandWords(command);
  const own = words.length > 0 ? [`*:word:(${words.join(" ")})`] : [];
  return [...own, ...operandKinds(command).map((kind) => `*:${kind}:${offers[kind]}`)].slice(0, 1);
}
