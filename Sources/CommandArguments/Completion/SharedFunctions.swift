/// What the scripts for bash and zsh have in common. zsh runs it with its option SH_WORD_SPLIT.
enum SharedFunctions {
    static let text = #"""
        # The rows for the options, arguments and subcommands of a command.
        _§_rows() {
            rows=''
            case $1 in
        ¶    esac
        }

        # Finds the row with a name.
        _§_row() {
            while IFS='|' read -r names kind text; do
                if [[ " $names " == *" $1 "* ]]; then return 0; fi
            done <<< "$rows"
            return 1
        }

        # Reads the word at the cursor, and those before it. `found` gets the options or commands that can be there. For
        # a value, `kind` is set instead, and `name` to what the program calls it.
        _§_read() {
            local rows names type about word waits='' used='' ended='' place=0 index=0
            local -a flags=()
            cur=$1 before='' name='' text='' verbs=() found=()
            shift
            _§_rows ''
            for word in "$@"; do
                if [[ -z $ended && $word == -?* ]]; then
                    waits=''
                    if [[ $word == -- ]]; then
                        ended=1
                    elif _§_row "${word%%=*}"; then
                        if [[ $kind != +* ]]; then used+=" $names "; fi
                        if [[ $kind != - && $word != *=* ]]; then waits=$names; fi
                    fi
                elif [[ -n $waits ]]; then
                    waits=''
                elif [[ -z $ended ]] && _§_row "$word" && [[ $kind == '>' ]]; then
                    verbs+=("$word")
                    _§_rows "${verbs[*]}"
                else
                    ((++place))
                fi
            done
            kind='' text=''
            if [[ -z $ended && $cur == -* ]]; then
                waits=''
                if [[ $cur == *=* ]]; then before=${cur%%=*}= waits=${cur%%=*} cur=${cur#*=}; fi
            fi
            if [[ -n $waits ]]; then
                if ! _§_row "$waits"; then kind=''; fi
                name=${names##* }
                return
            fi
            while IFS='|' read -r names type about; do
                if [[ $type == '>' ]]; then
                    if ((place)) || [[ -n $ended ]]; then return; fi
                    found+=("$names${about:+:$about}")
                elif [[ -z $names ]]; then
                    if ((index <= place)) && [[ $index == "$place" || $type == +* ]]; then
                        kind=$type name=positional@$index
                    fi
                    ((++index))
                elif [[ -z $ended && $used != *" $names "* ]]; then
                    for word in $names; do flags+=("$word${about:+:$about}"); done
                fi
            done <<< "$rows"
            if [[ -z $ended && $cur == -* || -z $kind${found-} ]]; then kind='' found=("${flags[@]}"); fi
        }

        # Asks for the values of the word at the cursor. Arguments: the program, the index of the word, the words.
        _§_ask() {
            local program=$1 index=$2
            local -a line=("${verbs[@]}")
            if [[ -n ${kind:2} ]]; then line=("${kind:2}"); fi
            shift 2
            "$program" ---completion "${line[@]}" -- "$name" "$index" "${#cur}" "$@" 2>/dev/null
        }


        """#
}
