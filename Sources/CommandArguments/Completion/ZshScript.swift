/// The completion script for zsh: see zshcompsys(1) and zshcompwid(1).
enum ZshScript {
    static func text(_ table: CompletionTable) -> String {
        ("#compdef §\n" + SharedFunctions.text + functions)
            .filled(table.program, rows: table.cases(withAbstracts: true))
    }

    private static let functions = #"""
        _§() {
            local cur before name kind text
            local -a verbs found open line expl
            local -i ret=1
            line=("${(@Q)words}")
            () {
                setopt localoptions shwordsplit
                _§_read "$@"
            } "${(Q)PREFIX}" "${(@)line[2,CURRENT-1]}"
            line[CURRENT]=$cur
            compset -p $#before
            case ${kind:1:1} in
            '')
                if [[ $found[1] == -* ]]; then _describe -o option found; else _describe -V command found; fi
                return
                ;;
            /)
                _files
                return
                ;;
            @)
                # What was typed may be an alias, or begin with ~ or a variable.
                if (( ! $+functions[$line[1]] )) && ! whence -p -- "$line[1]" >/dev/null; then line[1]=§; fi
                found=("${(@f)$(_§_ask "$line[1]" $((CURRENT - 1)) "$line[@]")}")
                ;;
            *) found=("${(@s: :)kind[2,-1]}") ;;
            esac
            # A tilde would be inserted with a backslash.
            if compset -P '\~/'; then found=("${(@)${(@M)found:#\~/*}#\~/}"); fi
            open=(${(M)found:#*[=/]})
            found=(${found:#(|*[=/])})
            _wanted -V values expl "${text:-value}" compadd -S '' -a open && ret=0
            _wanted -V values expl "${text:-value}" compadd -a found && ret=0
            return ret
        }

        if [[ $funcstack[1] == _§ ]]; then _§ "$@"; else compdef _§ §; fi
        """#
}
