/// The completion script for bash.
enum BashScript {
    static func text(_ root: ScriptCommand) -> String {
        BashFunctions.text(prefix: root.prefix) + functions(root)
            + BashFunctions.start(function: root.function)
            + "complete -o filenames -F \(root.function)_and_values \(root.name)"
    }

    /// The function of a command, and those of the commands below it.
    private static func functions(_ command: ScriptCommand) -> String {
        let sections = [
            offer(command), optionValues(command), positionalValues(command), subcommands(command),
        ]
        let body = (command.isRoot ? start : "") + sections.joined()
        return "\(command.function)() {\n\(body.isEmpty ? "    :\n" : body)}\n\n"
            + command.subcommands.map(functions).joined()
    }

    private static let start = #"""
            local state
            state="$(shopt -p;shopt -po)"
            trap "${state//$'\n'/;}" RETURN
            shopt -s extglob
            set +o history +o posix

            local -xr \#(ScriptVariables.shell)=bash
            local -x \#(ScriptVariables.version)
            \#(ScriptVariables.version)="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
            local -r \#(ScriptVariables.version)

            local -r cur="${2}"
            local -r prev="${3}"

            local -i positional_number
            local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")


        """#

    /// The names of the options and flags.
    private static func offer(_ command: ScriptCommand) -> String {
        let named = command.arguments.filter { !$0.isHidden && !$0.isPositional }
        guard !named.isEmpty else { return "" }
        let declaration = command.isRoot ? "local -a " : ""
        let arrays: [(name: String, areFlags: Bool, areRepeating: Bool)] = [
            ("repeating_flags", true, true), ("non_repeating_flags", true, false),
            ("repeating_options", false, true), ("non_repeating_options", false, false),
        ]
        let lines = arrays.map { array in
            let names = named.filter { $0.isFlag == array.areFlags && $0.isRepeating == array.areRepeating }
                .flatMap(\.names).map(\.text)
            return "    \(declaration)\(array.name)=(\(names.joined(separator: " ")))\n"
        }
        let hasRest = command.positionals.contains(where: \.isRepeating)
        return lines.joined()
            + "    \(command.prefix)_offer_flags_options \(hasRest ? -1 : command.positionals.count)\n"
    }

    private static func optionValues(_ command: ScriptCommand) -> String {
        let options = command.arguments.filter { $0.isOption && !$0.isHidden }
        let cases = options.map { option in
            let names = option.names.map { "'\($0.text.quotedInside)'" }.joined(separator: "|")
            return "    \(names))\n" + values(of: option, command).indented(by: 8) + "        return\n        ;;"
        }
        guard !cases.isEmpty else { return "" }
        return "\n    # Offer option value completions\n    case \"${prev}\" in\n"
            + cases.joined(separator: "\n") + "\n    esac\n"
    }

    private static func positionalValues(_ command: ScriptCommand) -> String {
        // All words after the first repeating one belong to it.
        let last = command.positionals.firstIndex(where: \.isRepeating) ?? command.positionals.count
        let cases = command.positionals.prefix(last + 1).enumerated().map { index, argument in
            let values = values(of: argument, command)
            guard !values.isEmpty else { return "" }
            let place = argument.isRepeating ? "*" : "\(index + 1)"
            return "    \(place))\n" + values.indented(by: 8) + "        return\n        ;;\n"
        }
        guard cases.contains(where: { !$0.isEmpty }) else { return "" }
        return "\n    # Offer positional completions\n    case \"${positional_number}\" in\n" + cases.joined()
            + "    esac\n"
    }

    private static func subcommands(_ command: ScriptCommand) -> String {
        let names = command.subcommands.map(\.name)
        guard !names.isEmpty else { return "" }
        return #"""

                # Offer subcommand / subcommand argument completions
                local -r subcommand="${unparsed_words[0]}"
                unset 'unparsed_words[0]'
                unparsed_words=("${unparsed_words[@]}")
                case "${subcommand}" in
                \#(names.joined(separator: "|")))
                    # Offer subcommand argument completions
                    "\#(command.function)_${subcommand}"
                    ;;
                *)
                    # Offer subcommand completions
                    COMPREPLY+=($(compgen -W '\#(names.map(\.quotedInside).joined(separator: " "))' -- "${cur}"))
                    ;;
                esac

            """#
    }

    /// A line that offers the values, or nothing.
    private static func values(of argument: ArgumentDescription, _ command: ScriptCommand) -> String {
        let add = command.prefix + "_add_completions"
        switch argument.completion {
        case nil: return ""
        case .file: return "\(add) -f\n"
        case .list(let words):
            return "\(add) -W '\(words.map(\.quotedInside).joined(separator: #"'$'\n''"#))'\n"
        case .custom:
            return "\(add) -W \"$(\(command.prefix)_custom_complete \(command.request(for: argument)) \"${COMP_CWORD}\""
                + " \"$(\(command.prefix)_cursor_index_in_current_word)\")\"\n"
        }
    }
}
