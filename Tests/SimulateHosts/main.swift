import Glibc
import HostSimulation

// simulate-hosts [SEEDS [FIRST]]: plays SEEDS schedules of hosts, from the seed FIRST on; exits with 1 if a rule was
// broken.

let numbers = CommandLine.arguments.dropFirst().map { UInt64($0) }
guard numbers.count <= 2, !numbers.contains(nil) else {
    print("usage: simulate-hosts [SEEDS [FIRST]]")
    exit(64)
}
let count = numbers.first.flatMap(\.self) ?? 1000
let first = numbers.dropFirst().first.flatMap(\.self) ?? 1

var coverage = HostCoverage()
var broken: Set<String> = []
var failures = 0
for seed in first..<first + count {
    let schedule = HostSimulation.schedule(seed: seed)
    let outcome = await HostSimulation.play(schedule)
    coverage.add(outcome.coverage)
    guard let violation = outcome.violation else { continue }
    failures += 1
    print("Seed \(seed): \(violation)")
    // To play it again: make simulate-hosts HOST_SEEDS=1 FIRST=seed
    if broken.insert(violation.rule.rawValue).inserted { print(await HostSimulation.report(schedule) + "\n") }
    fflush(nil)
}
print("Hosts: \(coverage.words)")
print("Rules broken: \(broken.count), by \(failures) schedules")
print("Schedules: \(count)")
exit(failures == 0 ? 0 : 1)
