import Glibc
import Simulation

// simulate [SEEDS [FIRST]]: plays so many schedules, from that seed on; ends with 1 when a rule was broken.

let numbers = CommandLine.arguments.dropFirst().map { UInt64($0) }
guard numbers.count <= 2, !numbers.contains(nil) else {
    print("usage: simulate [SEEDS [FIRST]]")
    exit(64)
}
let count = numbers.first.flatMap(\.self) ?? 100_000
let first = numbers.dropFirst().first.flatMap(\.self) ?? 1

let campaign = await Campaign.played(
    seeds: first..<first + count, workers: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
print(campaign.report)
exit(campaign.failures.isEmpty ? 0 : 1)
