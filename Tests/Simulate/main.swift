import Glibc
import Simulation

// simulate [--clusters] [SEEDS [FIRST]]: plays so many schedules, from that seed on; ends with 1 when a rule was broken.
// With --clusters, only hosts that share a session are simulated, for each seed and not for every tenth.

var arguments = CommandLine.arguments.dropFirst()
let worlds: Campaign.Worlds = arguments.first == "--clusters" ? .clusters : .all
if worlds == .clusters { arguments.removeFirst() }
let numbers = arguments.map { UInt64($0) }
guard numbers.count <= 2, !numbers.contains(nil) else {
    print("usage: simulate [--clusters] [SEEDS [FIRST]]")
    exit(64)
}
let count = numbers.first.flatMap(\.self) ?? 100_000
let first = numbers.dropFirst().first.flatMap(\.self) ?? 1

let campaign = await Campaign.played(
    seeds: first..<first + count, in: worlds, workers: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
print(campaign.report)
exit(campaign.failures.isEmpty ? 0 : 1)
