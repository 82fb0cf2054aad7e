/// The completion script for zsh.
///
/// No space follows a value such as `NAME=`. `_describe` shows what follows a colon as a description, so colons get a
/// backslash. `~/` stays as it was typed: it would otherwise be inserted quoted.
enum ZshScript {
    static func text(_ root: ScriptCommand) -> String {
        let prefix = root.prefix
        return #"""
            #compdef \#(root.name)

            \#(prefix)_complete() {
                local -ar non_empty_completions=("${@:#(|:*|*=)}")
                local -ar empty_completions=("${(M)@:#(|:*)}")
                local -ar valued_completions=("${(M)@:#*=}")
                if (( $#valued_completions )); then _describe -V '' valued_completions -S ''; fi
                _describe -V '' non_empty_completions -- empty_completions -P $'\'\''
            }

            \#(prefix)_custom_complete() {
                local -a completions
                completions=("${(@f)"$("${command_name}" "${@}" "${command_line[@]}")"}")
                if [[ "${#completions[@]}" -gt 1 ]]; then
                    completions=("${completions[@]:0:-1}")
                    if compset -P '\~/'; then
                        completions=("${(M@)completions:#\~/*}")
                        completions=("${completions[@]#\~/}")
                    fi
                    \#(prefix)_complete "${completions[@]//:/\\:}"
                fi
            }

            \#(prefix)_cursor_index_in_current_word() {
                if [[ -z "${QIPREFIX}${IPREFIX}${PREFIX}" ]]; then
                    printf 0
                else
                    printf %s "${#${(z)LBUFFER}[-1]}"
                fi
            }

            \#(functions(root))\#
            if [[ "${funcstack[1]}" = \#(root.function) ]]; then
                \#(root.function) "${@}"
            else
                compdef \#(root.function) \#(root.name)
            fi
            """#
    }

    private static let start = #"""
            emulate -RL zsh -G
            setopt extendedglob nullglob numericglobsort
            unsetopt aliases banghist

            local -xr \#(ScriptVariables.shell)=zsh
            local -x \#(ScriptVariables.version)
            \#(ScriptVariables.version)="$(builtin emulate zsh -c 'printf %s "${ZSH_VERSION}"')"
            local -r \#(ScriptVariables.version)

            local context state state_descr line
            local -A opt_args

            local -r command_name="${words[1]}"
            local -ar command_line=("${words[@]}")
            local -ir current_word_index="$((CURRENT - 1))"


        """#

    /// The function of a command, and those of the commands below it.
    private static func functions(_ command: ScriptCommand) -> String {
        var arguments = command.arguments.filter { !$0.isHidden }
        // All words after the first repeating argument belong to it.
        if let last = arguments.firstIndex(where: { $0.isPositional && $0.isRepeating }) {
            arguments = arguments[...last] + arguments[(last + 1)...].filter { !$0.isPositional }
        }
        let lists = arguments.compactMap { argument -> String? in
            guard case .list(let words) = argument.completion else { return nil }
            let values = words.map { "'\($0.quotedInside)'" }.joined(separator: " ")
            return "    local -ar \(variable(argument))=(\(values))\n"
        }
        let specifications =
            arguments.map { specification($0, command) }
            + (command.subcommands.isEmpty ? [] : ["'(-): :->command'", "'(-)*:: :->arg'"])
        return "\(command.function)() {\n" + (command.isRoot ? start : "") + "    local -i ret=1\n" + lists.joined()
            + "    local -ar arg_specs=(\n" + specifications.joined(separator: "\n").indented(by: 8) + "\n    )\n"
            + "    _arguments -w -s -S : \"${arg_specs[@]}\" && ret=0\n" + subcommands(command)
            + "\n    return \"${ret}\"\n}\n\n" + command.subcommands.map(functions).joined()
    }

    /// One argument of `_arguments`.
    private static func specification(_ argument: ArgumentDescription, _ command: ScriptCommand) -> String {
        let names = argument.names.map { escaped($0.text) }
        let abstract = argument.abstract.isEmpty ? "" : "[\(escaped(argument.abstract))]"
        let mark = argument.isRepeating ? "*" : ""
        let start =
            switch names.count {
            case 0: mark
            case 1: mark + names[0] + abstract
            default:
                (argument.isRepeating ? "*" : "(\(names.joined(separator: " ")))")
                    + "'{\(names.joined(separator: ","))}'" + abstract
            }
        guard !argument.isFlag else { return "'\(start)'" }
        return "'\(start):\(escaped(argument.valueName)):\(action(argument, command))'"
    }

    /// The part that offers the values.
    private static func action(_ argument: ArgumentDescription, _ command: ScriptCommand) -> String {
        switch argument.completion {
        case nil: ""
        case .file: "_files"
        case .list: "{\(command.prefix)_complete \"${\(variable(argument))[@]}\"}"
        case .custom:
            "{\(command.prefix)_custom_complete \(command.request(for: argument)) \"${current_word_index}\""
                + " \"$(\(command.prefix)_cursor_index_in_current_word)\"}"
        }
    }

    private static func variable(_ argument: ArgumentDescription) -> String {
        let name = argument.names.preferred
        let start = name.map { $0.isShort ? "__" : "___" } ?? "_"
        return start + (name?.bareText ?? argument.valueName).escaped(["-": "_"])
    }

    private static func subcommands(_ command: ScriptCommand) -> String {
        guard !command.subcommands.isEmpty else { return "" }
        let list = command.subcommands.map { subcommand in
            let name = subcommand.name.escaped(["\\": #"\\"#, ":": #"\:"#]).quotedInside
            return "            '\(name):\(subcommand.abstract.quotedInside)'"
        }
        return #"""
                case "${state}" in
                command)
                    local -ar subcommands=(
            \#(list.joined(separator: "\n"))
                    )
                    _describe -V subcommand subcommands && ret=0
                    ;;
                arg)
                    case "${words[1]}" in
                    \#(command.subcommands.map(\.name).joined(separator: "|")))
                        "\#(command.function)_${words[1]}" && ret=0
                        ;;
                    esac
                    ;;
                esac

            """#
    }

    /// For use between single quotes where brackets and colons have a meaning.
    private static func escaped(_ text: String) -> String {
        text.escaped(["\\": #"\\"#, ":": #"\:"#, "[": #"\["#, "]": #"\]"#]).quotedInside
    }
}
