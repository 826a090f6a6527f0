/** The scripts by which shells ask `host-local completion --line` what they may offer. */

import { FILES } from "./completion-offers.ts";

/**
 * The script for bash, to be sourced, or installed for bash-completion. bash takes a word apart at `=` and `:`, and replaces
 * its last part.
 */
const bash = `# bash completion for host-local

_host_local() {
    local line=\${COMP_LINE:0:COMP_POINT} part=\${COMP_WORDS[COMP_CWORD]} word
    word=\${line##*[[:space:]]}
    [[ $part =~ ^[=:]+$ ]] && part=
    mapfile -t COMPREPLY < <("\${COMP_WORDS[0]}" completion --line "$line" 2>/dev/null)
    case \${COMPREPLY[0]-} in
        ${FILES}) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$part") ;;
        *)
            COMPREPLY=("\${COMPREPLY[@]%% *}")
            COMPREPLY=("\${COMPREPLY[@]#"\${word%"$part"}"}")
            ;;
    esac
}

complete -F _host_local host-local
`;

/** The script for zsh, to be installed as `_host-local` in a directory of `$fpath`, or sourced after `compinit`. */
const zsh = `#compdef host-local
# zsh completion for host-local

_host-local() {
    local program=\${(Q)~words[1]} line
    local -a offered described
    offered=(\${(f)"$($program completion --line "\${words[1,CURRENT-1]} $PREFIX" 2>/dev/null)"})
    case $offered[1] in
        ${FILES}) compset -P 1 '--*='; _files ;;
        *)
            for line in $offered; do
                described+=("\${\${line%% *}//:/\\\\:}\${\${line#\${line%% *}}/ /:}")
            done
            _describe host-local described
            ;;
    esac
}

if [[ $funcstack[1] == _host-local ]]; then
    _host-local "$@"
else
    compdef _host-local host-local
fi
`;

/** The script for fish, to be sourced, or installed as `host-local.fish`. */
const fish = `# fish completion for host-local

function __host_local_offered
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l option (string match -r -- '^--[^=]*=' $word; or echo)
    set -l offered ($words[1] completion --line (commandline -cp | string collect) 2>/dev/null)
    switch "$offered[1]"
        case ${FILES}
            printf '%s\\n' $option(__fish_complete_path (string replace -r -- '^--[^=]*=' '' $word))
        case '*'
            string replace -- ' ' \\t $offered
    end
end

complete -c host-local -f -a '(__host_local_offered)'
`;

/** The scripts, by the name of the shell. */
export const completionScripts = { bash, zsh, fish } as const;
