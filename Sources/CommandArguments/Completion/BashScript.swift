/// The completion script for bash: see "Programmable Completion" in bash(1).
///
/// bash also calls the function for a word that follows `=`, `:` or `@`, and replaces only what follows it.
enum BashScript {
    static func text(_ table: CompletionTable) -> String {
        (SharedFunctions.text + functions).filled(table.program, rows: table.cases(withAbstracts: false))
    }

    private static let functions = #"""
        _§_and_values() {
            local IFS=$' \t\n' line=() found=() verbs=() rest=$COMP_LINE cursor=0 start=0 index word shown part=$2
            local cur before name kind text
            # bash also divides words at =, : and @. What follows one of them without a space belongs to the same word.
            for index in "${!COMP_WORDS[@]}"; do
                word=${COMP_WORDS[index]}
                if ((index == 0)) || [[ $rest == [[:space:]]* ]]; then
                    if [[ -n $word ]]; then rest=${rest#"${rest%%[![:space:]]*}"}; fi
                    if ((index <= COMP_CWORD)); then start=$((${#COMP_LINE} - ${#rest})) cursor=${#line[@]}; fi
                    # If the cursor is before this word, bash still calls it the word at the cursor.
                    if ((start > COMP_POINT)); then start=$COMP_POINT line+=(''); fi
                    line+=('')
                fi
                line[-1]+=$word
                rest=${rest#"$word"}
            done
            word=${COMP_LINE:start:COMP_POINT - start}
            word=${word#"${word%%[![:space:]]*}"}
            # bash replaces only the last part of the word.
            shown=${word%"$part"}
            line=("${line[@]//[\"\'\\]/}")
            _§_read "${word//[\"\'\\]/}" "${line[@]:1:cursor - 1}"
            line[cursor]=$cur
            case ${kind:1:1} in
            /)
                # bash would quote the $ of a variable in double quotes, unless it completes the file by itself.
                if [[ $part == *\$* ]]; then compopt -o default; else mapfile -t found < <(compgen -f -- "$cur"); fi
                ;;
            @)
                # What was typed may be an alias, or begin with ~ or a variable.
                if [[ $(type -t -- "$1") != f* ]]; then set -- §; fi
                mapfile -t found < <(_§_ask "$1" "$cursor" "${line[@]}")
                ;;
            ?) read -ra found <<< "${kind:1}" ;;
            esac
            shown=${shown//[\"\'\\]/}
            COMPREPLY=()
            for word in "${found[@]}"; do
                # bash would insert $ and ` without a backslash, unless the word is a file.
                if [[ -n $word && $word == "$cur"* ]] && [[ $kind == ?/ || $word != *[\$\`]* ]]; then
                    word=$before$word
                    COMPREPLY+=("${word#"$shown"}")
                fi
            done
            printf -v word %s "${COMPREPLY[@]}"
            if [[ $kind == ?/ || $word == *[^[:alnum:]_.=-]* ]]; then
                # Adds what these words need: backslashes, or a slash.
                compopt -o filenames
            elif [[ $word == *= ]]; then
                compopt -o nospace
            fi 2>/dev/null
        }
        complete -F _§_and_values §
        """#
}
