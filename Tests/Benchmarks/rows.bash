# shellcheck shell=bash
# What was measured, as lines of a table and for the page. Sourced by Tests/Benchmarks/bench.
#
# section WHAT                              the rows that follow belong to it
# row WHAT SEEN BUDGET NOTE                 remembers when SEEN is above BUDGET; `-` is no budget
# floor WHAT SEEN BUDGET NOTE               the same, when SEEN is below BUDGET
# ratio WHAT BUDGET COMMAND…                COMMAND prints two medians in µs, ours first, and maybe two 99th percentiles
# middle_row WHAT BUDGET COLUMN             from the lines of several such runs
# point PLOT SERIES X Y                     a point of a plot on the page

section=
kept=yes

section() {
    section=$1
    printf '\n%s\n' "$1"
}

row() { line below "$@"; }
floor() { line above "$@"; }

line() {
    local side=$1 what=$2 seen=$3 budget=$4 note=$5 verdict=kept
    if [[ $budget == - ]]; then
        verdict=
    elif awk "BEGIN { exit !($([[ $side == below ]] && echo "$seen > $budget" || echo "$seen < $budget")) }"; then
        verdict=OVER
        [[ $side == below ]] || verdict=UNDER
        kept=no
    fi
    printf '%-40s %10s %10s  %-5s %s\n' "$what" "$seen" "$budget" "$verdict" "$note"
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$section" "$what" "$seen" "$budget" "$verdict" "$note" >>"$world/rows"
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

# The middle one of the measured ratios, of this column and the next.
middle_row() {
    local what=$1 budget=$2 column=$3 seen ours theirs
    awk -v c="$column" '{ printf "%.2f %s %s\n", $c / $(c + 1), $c, $(c + 1) }' "$world/times" | sort -n >"$world/ratios"
    read -r seen ours theirs < <(sed -n "$((($(wc -l <"$world/ratios") + 1) / 2))p" "$world/ratios") ||
        fail "$what was not measured"
    row "$what" "$seen" "$budget" "$ours µs beside $theirs µs ${peer:-in C}"
}

point() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$world/points"; }
