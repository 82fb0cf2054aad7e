import AuthWire
import CommandArguments

struct Completion: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print the script with which a shell completes authc's commands and options.",
        discussion: "It is installed with authc for bash, zsh and fish.")

    @OptionGroup(visibility: .hidden) var common: PlainOptions

    @Argument(help: "bash, zsh or fish.", completion: .list(["bash", "zsh", "fish"]), transform: completionShell)
    var shell: CompletionShell

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try Output.result(Self.script(for: shell))
        return .done
    }

    /// The parser's script, changed where values with `$`, `=`, `:` or `~/` would be expanded, cut or not found, where a
    /// space would follow `NAME=`, and where completion in a script would fail.
    static func script(for shell: CompletionShell) -> String {
        let script = CompletionScript.text(for: shell, root: Authc.self)
        if shell == .bash { return script + "\n" + bashAddition }
        guard shell == .zsh else {
            return fishAddition + "\n" + script.replacing("(__authc_tokens -tC)", with: "(__authc_cursor)")
        }
        return script.replacing(#""${@:#(|:*)}""#, with: #""${@:#(|:*|*=)}""#)
            .replacing("    _describe -V '' non_empty", with: zshAddition + "\n    _describe -V '' non_empty")
            .replacing(#"        __authc_complete "${completions[@]:0:-1}""#, with: zshValues)
    }

    private static let bashAddition = #"""
        # `compgen -W` expands words as a command line does, so it gets the name of a variable. bash inserts $ and ` without
        # a backslash unless the word is a file: such words are left out.
        __authc_add_completions() {
            local completion words=$2
            local -a source=("$@")
            if [[ $1 == -W ]]; then source=(-W '$words'); fi
            while IFS='' read -r completion; do
                if [[ $1 != -W || $completion != *[\$\`]* ]]; then COMPREPLY+=("$completion"); fi
            done < <(IFS=$'\n' compgen "${source[@]}" -- "$cur")
        }
        # bash divides words at =, : and @, even inside values. The parser gets whole words.
        _authc_and_values() {
            local -a words=()
            local -i index cursor=0
            local rest=$COMP_LINE word
            for ((index = 0; index < ${#COMP_WORDS[@]}; index++)); do
                word=${COMP_WORDS[index]}
                if ((index > 0)) && [[ -n $word && $rest != [[:space:]]* ]]; then
                    words[${#words[@]} - 1]+=$word
                else
                    words+=("$word")
                fi
                rest=${rest#"${rest%%[![:space:]]*}"}
                rest=${rest#"$word"}
                if ((index == COMP_CWORD)); then cursor=${#words[@]}-1; fi
            done
            # What is before the part that bash replaces.
            local before=${COMP_LINE:0:COMP_POINT}
            before=${before##*[[:space:]]}
            if [[ $before == *"$2" ]]; then before=${before%"$2"}; else before=''; fi
            before=${before//[\"\']/}
            COMP_WORDS=("${words[@]}") COMP_CWORD=$cursor
            _authc "$1" "$before$2" "${words[cursor - 1]}"
            # _authc leaves a trap, which would reset the shell's options after each file that is sourced.
            trap - RETURN
            # As it is: bash would quote the = of a file name.
            if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} =~ ^[[:alnum:]_.-]+=$ ]]; then
                compopt -o nospace +o filenames
            fi
            COMPREPLY=("${COMPREPLY[@]#"$before"}")
        }
        complete -o filenames -F _authc_and_values authc
        """#

    private static let fishAddition = #"""
        # The position of the cursor in the word. Without a cursor, in a script that runs `complete -C`, it is the end.
        function __authc_cursor
            if status is-interactive
                __authc_tokens -tC
            else
                string length -- "$(commandline -ct)"
            end
        end
        """#

    private static let zshAddition = """
            local -ar valued_completions=("${(M)@:#*=}")
            if (( $#valued_completions )); then _describe -V '' valued_completions -S ''; fi
        """

    /// `_describe` shows what follows a colon as a description. `~/` stays as it was typed: it would be inserted quoted.
    private static let zshValues = #"""
                completions=("${completions[@]:0:-1}")
                if compset -P '\~/'; then
                    completions=("${(M@)completions:#\~/*}")
                    completions=("${completions[@]#\~/}")
                fi
                __authc_complete "${completions[@]//:/\\:}"
        """#
}

private func completionShell(_ text: String) throws(ValidationError) -> CompletionShell { try word(text) }
