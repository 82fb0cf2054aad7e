import AuthConfiguration
import AuthFiles

/// The functions that shells evaluate. Everything in them is built into the shell: a process would cost more than all the rest.
///
/// Each reads the prompt file (`PromptLine` in AuthWire) if it belongs to the user, drops the line if the agent that wrote it has
/// ended, and joins what ``PromptText`` shows of each session. It remembers the result, because most prompts follow no change.
struct PromptScript {
    let settings: PromptSettings
    /// The prompt file.
    let file: String
    /// Whether the file is used whatever `AUTHD_SOCKET` says.
    let isFixed: Bool

    func text(for shell: PromptShell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    // MARK: bash

    private var bash: String {
        Self.joined([
            (
                true,
                """
                # authc shell-init bash: keeps AUTHD_PROMPT up to date.
                authd_prompt() {
                    local code=$? IFS=' ' agent='' line='' key word session user state text
                    local file=\(posixFile)
                    # Root may have the folder of another user in its environment.
                    if [[ -O $file ]]; then { read -r agent line < "$file"; } 2> /dev/null; fi
                    # The agent that wrote the file may have been killed.
                    if [[ $agent != [1-9]* || ${#agent} -gt 7 ]] || ! kill -0 "$agent" 2> /dev/null; then line=''; fi
                    key=$line
                """
            ),
            (
                settings.folderOnly,
                """
                    local wanted=${AUTHD_SESSION-} rules=() rule up=. depth
                    { mapfile -t rules < "${file%/*}/folders"; } 2> /dev/null
                    key+=" $wanted $PWD ${rules[*]}"
                """
            ),
            (
                true,
                """
                    # Nothing has changed since the last prompt.
                    if [[ "<$key>" == "${__authd_key-}" ]]; then
                        export AUTHD_PROMPT=$__authd_text
                        return "$code"
                    fi
                    __authd_key="<$key>"
                    local first=() rest=()
                """
            ),
            (
                settings.folderOnly,
                """
                    # The paths of . and .. have no links in them, as the rules require.
                    for ((depth = 0; depth < 64 && ${#rules[@]} > 0; depth++)); do
                        if [[ -n $wanted ]]; then break; fi
                        for rule in "${rules[@]}"; do
                            if [[ $rule == *' /'* && $up -ef ${rule#* } ]]; then
                                wanted=${rule%% *}
                                break
                            fi
                        done
                        if [[ $up -ef / ]]; then break; fi
                        up+=/..
                    done
                """
            ),
            (
                true,
                """
                    for word in $line; do
                        session=${word%%[:!]*} user='' state=''
                        if [[ $word == *'!'* ]]; then state=${word##*'!'}; fi
                        word=${word%%'!'*}
                        if [[ $word == *:* ]]; then user=${word#*:}; fi
                \(posixFilter)
                        text=\(posixFormat)
                        if [[ -z $text ]]; then continue; fi
                        if [[ -n $state ]]; then first+=("$text"); else rest+=("$text"); fi
                    done
                    first+=("${rest[@]}")
                    __authd_text="${first[*]:0:\(PromptText.most)}"
                    if ((${#first[@]} > \(PromptText.most))); then __authd_text+=" +$((${#first[@]} - \(PromptText.most)))"; fi
                    export AUTHD_PROMPT=$__authd_text
                    return "$code"
                }
                case "${PROMPT_COMMAND[*]-}" in
                    *authd_prompt*) ;;
                    *) PROMPT_COMMAND="authd_prompt${PROMPT_COMMAND:+; $PROMPT_COMMAND}" ;;
                esac
                """
            ),
        ])
    }

    // MARK: zsh

    private var zsh: String {
        Self.joined([
            (
                true,
                """
                # authc shell-init zsh: keeps AUTHD_PROMPT up to date.
                authd_prompt() {
                    emulate -L zsh
                    local line='' agent key word session user state text
                    local file=\(posixFile)
                    # zsh reads it without a process. Root may have the folder of another user in its environment.
                    if [[ -O $file ]]; then { line=$(<"$file") } 2> /dev/null; fi
                    line=${line%%$'\\n'*}
                    agent=${line%% *}
                    line=${line#"$agent"}
                    # The agent that wrote the file may have been killed.
                    if [[ $agent != [1-9]* || ${#agent} -gt 7 ]] || ! kill -0 "$agent" 2> /dev/null; then line=''; fi
                    key=$line
                """
            ),
            (
                settings.folderOnly,
                """
                    local wanted=$AUTHD_SESSION rules='' rule folder longest='' here=${PWD:A}
                    { rules=$(<"${file%/*}/folders") } 2> /dev/null
                    key+=" $wanted $here $rules"
                """
            ),
            (
                true,
                """
                    # Nothing has changed since the last prompt.
                    if [[ "<$key>" == "$__authd_key" ]]; then
                        typeset -gx AUTHD_PROMPT=$__authd_text
                        return
                    fi
                    typeset -g __authd_key="<$key>" __authd_text=''
                    local -a first rest
                """
            ),
            (
                settings.folderOnly,
                """
                    if [[ -z $wanted ]]; then
                        for rule in ${(f)rules}; do
                            folder=${rule#* }
                            if (( $#folder > $#longest )) && [[ $folder == /* && $here/ == "${folder%/}"/* ]]; then
                                wanted=${rule%% *} longest=$folder
                            fi
                        done
                    fi
                """
            ),
            (
                true,
                """
                    for word in ${(s: :)line}; do
                        session=${word%%[:!]*} user='' state=''
                        if [[ $word == *'!'* ]]; then state=${word##*'!'}; fi
                        word=${word%%'!'*}
                        if [[ $word == *:* ]]; then user=${word#*:}; fi
                \(posixFilter)
                        text=\(posixFormat)
                        if [[ -z $text ]]; then continue; fi
                        if [[ -n $state ]]; then first+=("$text"); else rest+=("$text"); fi
                    done
                    first+=("${rest[@]}")
                    __authd_text="${(j: :)first[1,\(PromptText.most)]}"
                    if (( $#first > \(PromptText.most) )); then __authd_text+=" +$(( $#first - \(PromptText.most) ))"; fi
                    typeset -gx AUTHD_PROMPT=$__authd_text
                }
                typeset -ga precmd_functions
                if (( ! ${precmd_functions[(I)authd_prompt]} )); then precmd_functions=(authd_prompt $precmd_functions); fi
                """
            ),
        ])
    }

    // MARK: fish

    private var fish: String {
        Self.joined([
            (
                true,
                """
                # authc shell-init fish: keeps AUTHD_PROMPT up to date.
                function authd_prompt --on-event fish_prompt
                    set -l folder \(ShellSyntax.fish.quoted(PrivateFolder.parent(of: file)))
                """
            ),
            (
                !isFixed,
                """
                    if test -n "$AUTHD_SOCKET"
                        if test "$AUTHD_SOCKET" != "$__authd_socket"
                            set -g __authd_socket $AUTHD_SOCKET
                            set -g __authd_folder (string replace -r '/[^/]*$' '' -- "$AUTHD_SOCKET")
                        end
                        set folder $__authd_folder
                    end
                """
            ),
            (
                true,
                """
                    set -l agent
                    set -l line
                    # Root may have the folder of another user in its environment.
                    if test -O $folder/prompt; and test -r $folder/prompt
                        read agent line < $folder/prompt
                    end
                    # The agent that wrote the file may have been killed. Where /proc hides processes (hidepid), it cannot tell.
                    if not test -d "/proc/$agent"; and test -d /proc/1
                        set line
                    end
                    set -l key "<$agent $line>"
                """
            ),
            (
                settings.folderOnly,
                """
                    set -l rules
                    if test -r $folder/folders
                        read -z rules < $folder/folders
                    end
                    set key "$key $AUTHD_SESSION $PWD $rules"
                """
            ),
            (
                true,
                """
                    # Nothing has changed since the last prompt.
                    if test "$key" = "$__authd_key"
                        set -gx AUTHD_PROMPT $__authd_text
                        return
                    end
                    set -g __authd_key $key
                    set -l first
                    set -l rest
                    if not string match -qr '^[1-9][0-9]*$' -- "$agent"
                        set line
                    end
                """
            ),
            (
                settings.folderOnly,
                """
                    set -l wanted $AUTHD_SESSION
                    if test -z "$wanted"
                        set -l here (builtin pwd -P)/
                        set -l longest 0
                        for rule in (string split -n \\n -- "$rules")
                            set -l halves (string split -m 1 ' ' -- "$rule")
                            set -l inside (string trim -r -c / -- "$halves[2]")/
                            set -l length (string length -- "$inside")
                            if test $length -gt $longest
                                and test (string sub -l $length -- "$here") = "$inside"
                                and string match -q '/*' -- "$halves[2]"
                                set wanted $halves[1]
                                set longest $length
                            end
                        end
                    end
                """
            ),
            (
                true,
                """
                    for word in (string split -n ' ' -- "$line")
                        set -l halves (string split -m 1 '!' -- "$word")
                        set -l state $halves[2]
                        set halves (string split -m 1 ':' -- "$halves[1]")
                        set -l session $halves[1]
                        set -l user $halves[2]
                \(fishFilter)
                        set -l text ''
                \(fishFormat)
                        test -z "$text"; and continue
                        if test -n "$state"
                            set -a first "$text"
                        else
                            set -a rest "$text"
                        end
                    end
                    set -a first $rest
                    set -l left (math (count $first) - \(PromptText.most))
                    if test $left -gt 0
                        set first $first[1..\(PromptText.most)] +$left
                    end
                    set -g __authd_text "$first"
                    set -gx AUTHD_PROMPT "$first"
                end
                """
            ),
        ])
    }

    // MARK: Parts

    private var posixFile: String {
        let path = ShellSyntax.sh.quoted(file)
        return isFixed ? path : "${AUTHD_SOCKET:+\"${AUTHD_SOCKET%/*}/prompt\"}\n    file=${file:-\(path)}"
    }

    private var posixFilter: String {
        var conditions: [String] = []
        // The word of a locked store has no name: the store may have any session.
        if settings.folderOnly { conditions.append("-z $wanted || -n $session && $session != \"$wanted\"") }
        if settings.attentionOnly { conditions.append("-z $state || $state == \(PromptText.calmState)") }
        return conditions.map { "        if [[ \($0) ]]; then continue; fi" }.joined(separator: "\n")
    }

    private var fishFilter: String {
        var conditions: [String] = []
        if settings.folderOnly {
            conditions += [
                "test -z \"$wanted\"; and continue",
                "test -n \"$session\"; and test \"$session\" != \"$wanted\"; and continue",
            ]
        }
        if settings.attentionOnly {
            conditions.append("contains -- \"$state\" '' \(PromptText.calmState); and continue")
        }
        return conditions.map { "        " + $0 }.joined(separator: "\n")
    }

    private var posixFormat: String {
        settings.format.map { part in
            switch part {
            case .text(let text): ShellSyntax.sh.quoted(text)
            case .value(let field, let before):
                before.isEmpty
                    ? "\"$\(field.rawValue)\""
                    : "${\(field.rawValue):+\(ShellSyntax.sh.quoted(before))\"$\(field.rawValue)\"}"
            }
        }.joined()
    }

    private var fishFormat: String {
        settings.format.map { part in
            switch part {
            case .text(let text): "        set text \"$text\"\(ShellSyntax.fish.quoted(text))"
            case .value(let field, let before):
                "        test -n \"$\(field.rawValue)\"; "
                    + "and set text \"$text\"\(ShellSyntax.fish.quoted(before))\"$\(field.rawValue)\""
            }
        }.joined(separator: "\n")
    }

    /// The parts that are used, without empty lines.
    private static func joined(_ parts: [(isUsed: Bool, text: String)]) -> String {
        parts.filter(\.isUsed).flatMap { $0.text.split(separator: "\n") }.joined(separator: "\n")
    }
}
