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
# beside_row WHAT BUDGET NOTE…              from several lines with three 99th percentiles (see there)
# missing PROGRAM                           it is not installed: the page says that nothing is compared with it
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

# Each line of `times` has three 99th percentiles of a good client: at the agent without a disturbance, at the agent beside it, and
# at the echo server beside it, which is not disturbed itself; then maybe a note. The second is compared with the larger one of the
# others. Its multiple of the first is shown, too.
beside_row() {
    local seen quiet loud echoed note
    read -r seen quiet loud echoed note < <(awk '{ printf "%.2f %s\n", $2 / ($1 > $3 ? $1 : $3), $0 }' "$world/times" |
        sort -n | middle) || fail "$1 was not measured"
    row "$1" "$seen" "$2" "$quiet µs" "$loud µs" "$echoed µs" "$(awk "BEGIN { printf \"%.2f\", $loud / $quiet }")" "$note"
}

# For the sections of beside_row.
readonly beside_columns='authd without it|authd beside it|echo beside it|authd beside it / without it'
readonly beside_text="The client shares its processor with the program that disturbs, so a client of the echo server waits longer, too, \
although nothing disturbs that server. The figure is the time of authd beside the disturbance, divided by the larger one of two: that of \
authd without it, and that of the echo server beside it."

middle() { awk '{ lines[NR] = $0 } END { if (NR) print lines[int((NR + 1) / 2)] }'; }

missing() {
    echo "$1 is not installed: nothing is compared with it" >&2
    echo "$1" >>"$world/missing"
}

point() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$world/points"; }
