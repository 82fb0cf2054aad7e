/// The functions of a script for bash that are the same for every command.
enum BashFunctions {
    static func text(prefix: String) -> String {
        #"""
        #!/bin/bash

        \#(prefix)_cursor_index_in_current_word() {
            local remaining="${COMP_LINE}"

            local word
            for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
                remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
            done

            local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
            if [[ "${index}" -le 0 ]]; then
                printf 0
            else
                printf %s "${index}"
            fi
        }

        # positional arguments:
        #
        # - 1: the current (sub)command's count of positional arguments
        #
        # required variables:
        #
        # - repeating_flags: the repeating flags that the current (sub)command can accept
        # - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
        # - repeating_options: the repeating options that the current (sub)command can accept
        # - non_repeating_options: the non-repeating options that the current (sub)command can accept
        # - positional_number: value ignored
        # - unparsed_words: unparsed words from the current command line
        #
        # modified variables:
        #
        # - non_repeating_flags: remove flags for this (sub)command that are already on the command line
        # - non_repeating_options: remove options for this (sub)command that are already on the command line
        # - positional_number: set to the current positional number
        # - unparsed_words: remove all flags, options, and option values for this (sub)command
        \#(prefix)_offer_flags_options() {
            local -ir positional_count="${1}"
            positional_number=0

            local was_flag_option_terminator_seen=false
            local is_parsing_option_value=false

            local -ar unparsed_word_indices=("${!unparsed_words[@]}")
            local -i word_index
            for word_index in "${unparsed_word_indices[@]}"; do
                if "${is_parsing_option_value}"; then
                    # This word is an option value:
                    # Reset marker for next word iff not currently the last word
                    [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && \#
        is_parsing_option_value=false
                    unset "unparsed_words[${word_index}]"
                    # Do not process this word as a flag or an option
                    continue
                fi

                local word="${unparsed_words["${word_index}"]}"
                if ! "${was_flag_option_terminator_seen}"; then
                    case "${word}" in
                    --)
                        unset "unparsed_words[${word_index}]"
                        # by itself -- is a flag/option terminator, but if it is the last word, it is the start \#
        of a completion
                        if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" \#
        ]]; then
                            was_flag_option_terminator_seen=true
                        fi
                        continue
                        ;;
                    -*)
                        # ${word} is a flag or an option
                        # If ${word} is an option, mark that the next word to be parsed is an option value
                        local option
                        for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                            [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                        done

                        # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't \#
        offered again
                        local not_found=true
                        local -i index
                        for index in "${!non_repeating_flags[@]}"; do
                            if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                                unset "non_repeating_flags[${index}]"
                                non_repeating_flags=("${non_repeating_flags[@]}")
                                not_found=false
                                break
                            fi
                        done
                        if "${not_found}"; then
                            for index in "${!non_repeating_flags[@]}"; do
                                if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                                    unset "non_repeating_flags[${index}]"
                                    non_repeating_flags=("${non_repeating_flags[@]}")
                                    break
                                fi
                            done
                        fi
                        unset "unparsed_words[${word_index}]"
                        continue
                        ;;
                    esac
                fi

                # ${word} is neither a flag, nor an option, nor an option value
                if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
                    # ${word} is a positional
                    ((positional_number++))
                    unset "unparsed_words[${word_index}]"
                else
                    if [[ -z "${word}" ]]; then
                        # Could be completing a flag, option, or subcommand
                        positional_number=-1
                    else
                        # ${word} is a subcommand or invalid, so stop processing this (sub)command
                        positional_number=-2
                    fi
                    break
                fi
            done

            unparsed_words=("${unparsed_words[@]}")

            if\
                ! "${was_flag_option_terminator_seen}"\
                && ! "${is_parsing_option_value}"\
                && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
            then
                COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} \#
        ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
            fi
        }

        # `compgen -W` expands words as a command line does, so it gets the name of a variable. bash inserts $ and ` \#
        without
        # a backslash unless the word is a file: such words are left out.
        \#(prefix)_add_completions() {
            local completion words=$2
            local -a source=("$@")
            if [[ $1 == -W ]]; then source=(-W '$words'); fi
            while IFS='' read -r completion; do
                if [[ $1 != -W || $completion != *[\$\`]* ]]; then COMPREPLY+=("$completion"); fi
            done < <(IFS=$'\n' compgen "${source[@]}" -- "$cur")
        }

        \#(prefix)_custom_complete() {
            if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
                local -ar words=("${COMP_WORDS[@]}")
            else
                local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
            fi

            "${COMP_WORDS[0]}" "${@}" "${words[@]}"
        }


        """#
    }

    /// The function that bash calls, which calls that of the program.
    /// - Parameter function: the name of the program's function.
    static func start(function: String) -> String {
        #"""
        # bash divides words at =, : and @, even inside values. The parser gets whole words.
        \#(function)_and_values() {
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
            \#(function) "$1" "$before$2" "${words[cursor - 1]}"
            # \#(function) leaves a trap, which would reset the shell's options after each file that is sourced.
            trap - RETURN
            # As it is: bash would quote the = of a file name.
            if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} =~ ^[[:alnum:]_.-]+=$ ]]; then
                compopt -o nospace +o filenames
            fi
            COMPREPLY=("${COMPREPLY[@]#"$before"}")
        }

        """#
    }
}
