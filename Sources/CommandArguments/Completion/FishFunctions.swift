/// The functions of a script for fish that are the same for every command, except for the list of all
/// commands.
enum FishFunctions {
    /// - Parameter commandCases: a case for each command, which reads its options.
    static func text(prefix: String, commandCases: String) -> String {
        #"""
        # The position of the cursor in the word. Without a cursor, in a script that runs `complete -C`, it is the end.
        function \#(prefix)_cursor
            if status is-interactive
                \#(prefix)_tokens -tC
            else
                string length -- "$(commandline -ct)"
            end
        end
        function \#(prefix)_should_offer_completions_for_flags_or_options -a expected_commands
            set -l non_repeating_flags_or_options $argv[2..]
            set -l non_repeating_flags_or_options_absent 0
            set -l positional_index 0
            set -l commands
            \#(prefix)_parse_tokens
            test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
        end

        function \#(prefix)_should_offer_completions_for_positional -a expected_commands \#
        positional_index_comparison expected_positional_index
            set -l non_repeating_flags_or_options
            set -l non_repeating_flags_or_options_absent 0
            set -l positional_index 0
            set -l commands
            \#(prefix)_parse_tokens
            test "$commands" = "$expected_commands" -a \( "$positional_index" \#
        "$positional_index_comparison" "$expected_positional_index" \)
        end

        function \#(prefix)_parse_tokens -S
            set -l unparsed_tokens (\#(prefix)_tokens -pc)
            switch $unparsed_tokens[1]
        \#(commandCases)
            end
        end

        function \#(prefix)_tokens
            if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
                commandline --tokens-raw $argv
            else
                commandline -o $argv
            end
        end

        function \#(prefix)_parse_subcommand -S -a positional_count
            argparse -s r -- $argv
            set -l option_specs $argv[2..]
            set -l is_repeating_positional $_flag_r
            set -el _flag_r
            set -a commands $unparsed_tokens[1]
            set positional_index 0
            while true
                set -e unparsed_tokens[1]
                argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
                set unparsed_tokens $argv
                set positional_index (math $positional_index + 1)
                for non_repeating_flag_or_option in $non_repeating_flags_or_options
                    if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                        set non_repeating_flags_or_options_absent 1
                        break
                    end
                end
                test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a \#
        "$positional_index" -gt "$positional_count" \) && break
            end
        end

        function \#(prefix)_complete_directories
            set -l token (commandline -t)
            string match -- '*/' $token
            set -l subdirs $token*/
            printf %s\n $subdirs
        end

        function \#(prefix)_custom_completion
            set -x \#(ScriptVariables.shell) fish
            set -x \#(ScriptVariables.version) $FISH_VERSION
            set -l tokens (\#(prefix)_tokens -p)
            if test -z "$(\#(prefix)_tokens -t)"
                set -l index (count (\#(prefix)_tokens -pc))
                set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
            end
            command $tokens[1] $argv $tokens
        end

        """#
    }
}
