# shellcheck shell=bash
# What a shell's prompt costs. Sourced by Tests/Benchmarks/bench.

# µs.
readonly prompt_budget=200

prompts() {
    section 'The function of authc shell-init, before each prompt'
    local shell
    for shell in bash zsh fish; do
        if installed "$shell"; then shell_prompt "$shell"; fi
    done
}

# shell_prompt SHELL: a call of the function that `authc shell-init` prints, with a file that has not changed since the last
# call, as before most prompts: the middle one of some rounds.
shell_prompt() {
    local shell=$1 start seen shown round
    start=$(authc shell-init "$shell")
    # shellcheck disable=SC2016 # The other shell expands it.
    case $shell in
        bash) start+=$'\nfor ((i = 0; i <= 1000; i++)); do authd_prompt; ((i)) || a=$EPOCHREALTIME; done; b=$EPOCHREALTIME
            echo "$(((${b/./} - ${a/./}) / 1000)) $AUTHD_PROMPT"' ;;
        zsh) start+=$'\nzmodload zsh/datetime; for ((i = 0; i <= 1000; i++)); do authd_prompt; ((i)) || a=$EPOCHREALTIME; done
            b=$EPOCHREALTIME; printf "%d %s\\n" $(((b - a) * 1000)) "$AUTHD_PROMPT"' ;;
        fish) start+=$'\nauthd_prompt; set a (date +%s%N); for i in (seq 1000); authd_prompt; end; set b (date +%s%N)
            printf "%d %s\\n" (math --scale=0 "($b - $a) / 1000000") "$AUTHD_PROMPT"' ;;
    esac
    for ((round = 0; round < rounds; round++)); do
        "$shell" -c "$start" </dev/null || fail "the prompt of $shell was not measured"
    done | sort -n >"$world/prompts"
    read -r seen shown < <(middle <"$world/prompts") || fail "the prompt of $shell was not measured"
    [[ $shown == app-template:* ]] || fail "the prompt of $shell is '$shown'"
    row "$shell" "$seen" "$prompt_budget" 'µs before each prompt'
}
