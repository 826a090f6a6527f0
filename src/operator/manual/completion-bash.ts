/** Completion for bash. */

import type { Command } from "../command/command.ts";
import {
  allOptions,
  type Kind,
  operandKinds,
  operandWords,
  quote,
  valueKind,
} from "./completion-kind.ts";

const offers: Readonly<Record<Kind, string>> = {
  directories: "_host_local_directories",
  files: "_host_local_files",
  networks: "_host_local_networks",
};

/** The script: to be sourced, or put among those that bash-completion loads. */
export function bashCompletion(commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name);
  return `# bash completion for host-local, written by: host-local completion bash

_host_local_offer() {
    mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen "$@" -- "$word")
}

_host_local_directories() {
    compopt -o filenames 2>/dev/null
    _host_local_offer -d
}

_host_local_files() {
    compopt -o filenames 2>/dev/null
    _host_local_offer -f
}

# The program itself knows the networks, where the options before say.
_host_local_networks() {
    local -a where=()
    local at value
    for ((at = 2; at < COMP_CWORD - 1; at++)); do
        case \${COMP_WORDS[at]} in
            --conf-dir | --data-dir)
                value=\${COMP_WORDS[at + 1]}
                [[ $value == = ]] && value=\${COMP_WORDS[at + 2]}
                where+=("\${COMP_WORDS[at]}" "$value")
                ;;
        esac
    done
    _host_local_offer -W "$("\${COMP_WORDS[0]}" completion networks "\${where[@]}" 2>/dev/null)"
}

_host_local() {
    local word=\${COMP_WORDS[COMP_CWORD]} option=\${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    # bash takes --option=value for three words.
    if [[ $word == = ]]; then
        word=
    elif [[ $option == = ]]; then
        option=\${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)); then
        _host_local_offer -W ${quote([...names, "help", "--help"].join(" "))}
        return
    fi
    case \${COMP_WORDS[1]} in
        help)
            _host_local_offer -W ${quote(names.join(" "))}
            ;;
${commands.map(commandCase).join("\n")}
    esac
}

complete -F _host_local host-local
`;
}

function commandCase(command: Command): string {
  const options = allOptions(command);
  const values = options.filter(({ value }) => value !== undefined);
  const words = operandWords(command);
  return [
    `        ${command.name})`,
    "            case $option in",
    ...values.map((option) => {
      const kind = valueKind(option);
      return `                ${option.name}) ${kind === undefined ? "return" : `${offers[kind]}; return`} ;;`;
    }),
    "            esac",
    "            if [[ $word == -* ]]; then",
    `                _host_local_offer -W ${quote(options.map(({ name }) => name).join(" "))}`,
    "                return",
    "            fi",
    ...(words.length > 0 ? [`            _host_local_offer -W ${quote(words.join(" "))}`] : []),
    ...operandKinds(command).map((kind) => `            ${offers[kind]}`),
    "            ;;",
  ].join("\n");
}
