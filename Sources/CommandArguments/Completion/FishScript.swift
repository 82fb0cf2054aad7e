/// The completion script for fish: see complete(1) and commandline(1) of fish.
enum FishScript {
    static func text(_ table: CompletionTable) -> String {
        functions.filled(table.program, rows: rows(table))
    }

    private static func rows(_ table: CompletionTable) -> String {
        table.commands.map { command in
            let rows = command.text(withAbstracts: true)
            return "        case \(quoted(command.path))\n            echo \(quoted(rows))\n"
        }.joined()
    }

    private static func quoted(_ text: String) -> String { "'" + text.escaped(["\\": #"\\"#, "'": #"\'"#]) + "'" }

    private static let functions = #"""
        # The rows for the options, arguments and subcommands of a command.
        function __§_rows
            switch "$argv"
        ¶    end
        end

        # The parts of the row with a name.
        function __§_row -a name
            set -l name (string escape --style=regex -- $name)
            string match -r -- "^(?:[^|]* )?$name(?: [^|]*)?\|.*" $argv[2..] | string split -m 2 '|'
        end

        # The values of a kind.
        function __§_values -S -a kind name cur
            switch $kind
                case /
                    complete -C "'' $cur"
                case '@*'
                    set -l asked (string sub -s 2 -- $kind)
                    test -n "$asked"; and set verbs $asked
                    # What was typed may begin with ~ or a variable.
                    command -q $words[1]; or set words[1] §
                    command -q $words[1]; and command $words[1] ---completion $verbs -- $name (count $words) \
                        (string length -- "$cur") $words "$cur" 2>/dev/null | string match -v ''
                case '*'
                    string split -n ' ' -- $kind
            end
        end

        function __§_complete
            set -l words (commandline -opc)
            set -l cur (commandline -ct)
            set -l rows (__§_rows)
            set -l row
            set -l verbs
            set -l used
            set -l waits
            set -l ended
            set -l place 0
            for word in $words[2..]
                if test -z "$ended"; and string match -qr '^-.' -- $word
                    set waits
                    if test "$word" = --
                        set ended 1
                    else if set row (__§_row (string replace -r '=.*' '' -- $word) $rows)
                        string match -q '+*' -- $row[2]; or set -a used $row[1]
                        test "$row[2]" = -; or string match -q '*=*' -- $word; or set waits $row
                    end
                else if set -q waits[1]
                    set waits
                else if test -z "$ended"; and set row (__§_row $word $rows); and test "$row[2]" = '>'
                    set -a verbs $word
                    set rows (__§_rows $verbs)
                else
                    set place (math $place + 1)
                end
            end
            set -l before ''
            if test -z "$ended"; and string match -q -- '-*' $cur
                set waits
                if set -l parts (string split -m 1 = -- $cur)
                    set before $parts[1]=
                    set cur $parts[2]
                    set waits (__§_row $parts[1] $rows); or return
                end
            end
            set -l found
            set -l flags
            set -l index 0
            if not set -q waits[1]
                for row in $rows
                    set row (string split -m 2 '|' -- $row)
                    if test "$row[2]" = '>'
                        test $place = 0 -a -z "$ended"; or return
                        set -a found $row[1]\t$row[3]
                    else if test -z "$row[1]"
                        if string match -q '+*' -- $row[2]; and test $index -lt $place; or test $index = $place
                            set waits positional@$index $row[2] $row[3]
                        end
                        set index (math $index + 1)
                    else if test -z "$ended"; and not contains -- $row[1] $used
                        set -a flags (string split ' ' -- $row[1])\t$row[3]
                    end
                end
                if test -z "$ended"; and string match -q -- '-*' $cur; or test -z "$waits$found"
                    set found $flags
                    set waits
                end
            end
            if set -q waits[1]
                set -l name (string split ' ' -- $waits[1])[-1]
                set found $before(__§_values (string sub -s 2 -- $waits[2]) $name "$cur")\t$waits[3]
            end
            string join \n -- $found
        end

        complete -c § -f -k -a '(__§_complete)'
        """#
}
