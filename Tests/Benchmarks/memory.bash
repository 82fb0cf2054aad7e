# shellcheck shell=bash
# The size of the programs, and the memory of the agent. Sourced by Tests/Benchmarks/bench.

# kB. The installed size has been 85 MB; lower its budget whenever that falls.
readonly installed_budget=91136 agent_budget=30720 command_budget=8192

sizes() {
    section 'Programs without symbols'
    row 'authd' "$(size authd)" "$agent_budget" 'kB'
    row 'authc' "$(size authc)" "$command_budget" 'kB'
    row 'authc-full' "$(size authc-full)" "$command_budget" 'kB'
    row 'all' "$(size authd authc authc-full authc-texts authd-gateway)" "$installed_budget" 'kB, authd-gateway too'
    shares authd
    shares authc-full
}

# shares PROGRAM: the largest first, without those of less than 1 kB.
shares() {
    local size what
    section "What $1 consists of" '' "\`Tests/Benchmarks/shares\` adds up the symbols of each package, and the sections that have \
no code, in kB. [What was done about it](decisions/size.md)."
    "$here/shares" "$programs/$1" | sort -rn >"$world/shares" || fail "the shares of $1 are unknown"
    while IFS=$'\t' read -r size what; do
        ((size == 0)) || row "$what" "$size" - 'kB'
    done <"$world/shares"
}

# Memory that belongs to the agent alone. Pages of its file are shared, and the kernel drops them when it needs room.
anonymous() { memory Anonymous; }

memory() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$agent_pid/smaps_rollup"; }

# The programs, without symbols, and the texts of authc, where make install puts them.
install_programs() {
    # A make that runs this must not pass on its variables.
    env -u MAKEFLAGS -u MAKELEVEL make --silent --directory="$here/../.." install RELEASE="$programs" PREFIX=/usr \
        DESTDIR="$world/installed" >"$world/log/install" 2>&1 || fail 'make install'
}

# The size of these installed files together, in kB.
size() {
    (cd "$world/installed/usr" && find bin libexec/authd-session -type f -printf '%f %s\n') |
        awk -v names="$*" 'index(" " names " ", " " $1 " ") { sum += $2 } END { printf "%d", sum / 1024 }'
}
