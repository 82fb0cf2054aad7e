# shellcheck shell=bash
# What was measured, as lines of a table and for the page. Sourced by Tests/Benchmarks/bench.
#
# section WHAT [COLUMNS [TEXT]]             the rows that follow belong to it; COLUMNS are the headings of their notes, with `|`
#                                           between them, and TEXT is shown above the table of the page
# row WHAT SEEN BUDGET NOTE…                remembers when SEEN is above BUDGET; `-` is no budget
# floor WHAT SEEN BUDGET NOTE…              the same, when SEEN is below BUDGET
# ratio WHAT BUDGET COMMAND…                COMMAND prints two medians in µs, ours first, and maybe two 99th percentiles, and then
#                                           the ratio of neighbours (samples.h), which counts instead of that of the medians
# middle_row WHAT BUDGET COLUMN             from the lines of several such runs
# middle                                    the middle one of sorted lines; of an even number, the later one of the two in the middle: the
#                                           worse one comes last
# beside_row WHAT BUDGET NOTE…              from several lines with three 99th percentiles (see there)
# installed PROGRAM…                        fails if one of them is not: the page says that nothing is compared with it
# point PLOT SERIES X Y                     a point of a plot on the page

section=
columns=
kept=yes

section() {
    section=$1
    columns=${2-}
    printf '%s\t%s\t%s\n' "$section" "$columns" "${3-}" >>"$world/sections"
    printf '\n%s%s\n' "$section" "${columns:+ ($columns)}"
}

row() { line below "$@"; }
floor() { line above "$@"; }

line() {
    local side=$1 what=$2 seen=$3 budget=$4 verdict=kept
    shift 4
    [[ $seen =~ ^-?[0-9]+(\.[0-9]+)?$ ]] || fail "$what was not measured: '$seen'"
    if [[ $budget == - ]]; then
        verdict=
    elif awk "BEGIN { exit !($([[ $side == below ]] && echo "$seen > $budget" || echo "$seen < $budget")) }"; then
        verdict=OVER
        [[ $side == below ]] || verdict=UNDER
        kept=no
    fi
    local IFS='|'
    printf '%-40s %10s %10s  %-5s %s\n' "$what" "$seen" "$budget" "$verdict" "$*"
    IFS=$'\t'
    printf '%s\n' "$section"$'\t'"$what"$'\t'"$seen"$'\t'"$budget"$'\t'"$verdict"$'\t'"$*" >>"$world/rows"
}

# What else the machine does comes and goes within seconds, so it is run some times, and the middle one of the ratios counts. With
# p99=BUDGET there is a row for the percentiles, too.
ratio() {
    local what=$1 budget=$2 round
    shift 2
    for ((round = 0; round < rounds; round++)); do
        "$@" || fail "$what was not measured"
    done >"$world/times"
    middle_row "$what" "$budget" 1
    if [[ ${p99-} ]]; then middle_row "$what, p99" "$p99" 3; fi
}

# The median of the measured ratios of this column and the next, with the figures of its run. Sets middle_time, ours.
middle_row() {
    local what=$1 budget=$2 column=$3 seen times
    read -r seen times < <(awk -v c="$column" '{ printf "%.2f %s\n", c == 1 && NF == 5 ? $5 : $c / $(c + 1), $0 }' "$world/times" |
        sort -n | middle) || fail "$what was not measured"
    read -r -a times <<<"$times"
    times=("${times[@]:0:4}")
    middle_time=${times[column - 1]}
    if [[ $columns ]]; then
        row "$what" "$seen" "$budget" "${times[@]/%/ µs}"
    else
        row "$what" "$seen" "$budget" "$middle_time µs beside ${times[column]} µs ${peer:-in C}"
    fi
}

# Each line of `times` is a round with three 99th percentiles of a good client: at the agent without a disturbance, at the agent beside
# it, and at the echo server beside it, for information; then maybe a note. The median of the second is compared with the smallest of
# the first, so that other load of the machine cannot make the ratio smaller.
beside_row() {
    local quiet loud echoed note
    quiet=$(sort -g "$world/times" | head -n 1 | cut -d ' ' -f 1)
    read -r _ loud echoed note < <(sort -g -k 2,2 "$world/times" | middle) || fail "$1 was not measured"
    row "$1" "$(awk "BEGIN { printf \"%.2f\", $loud / $quiet }")" "$2" "$quiet µs" "$loud µs" "$echoed µs" "$note"
}

# For the sections of beside_row.
readonly beside_columns='authd without it|authd beside it|echo beside it'
readonly beside_text="Rounds without the disturbance and beside it take turns. The figure is the median of the p99 of all rounds beside it, \
divided by the smallest p99 without it. The agent and the client are pinned to one processor each. What disturbs runs on that of the \
client, at the priority SCHED_IDLE (\`chrt --idle 0\`), so that the client does not wait for it there. The p99 of a client of the echo \
server, which has the agent's processor, is information only; it is of the same round as the median."

middle() { awk '{ lines[NR] = $0 } END { if (NR) print lines[int(NR / 2) + 1] }'; }

installed() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null && continue
        echo "${program##*/} is not installed: nothing is compared with it" >&2
        echo "${program##*/}" >>"$world/missing"
        return 1
    done
}

point() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$world/points"; }
