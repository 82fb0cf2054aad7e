import CrashTrial
import Glibc

// crash [KILLS [FIRST]]: so many kills, by the seeds from that one on; ends with 1 when a session was lost.

let numbers = CommandLine.arguments.dropFirst().map { UInt64($0) }
guard numbers.count <= 2, !numbers.contains(nil) else {
    print("usage: crash [KILLS [FIRST]]")
    exit(64)
}
let count = numbers.first.flatMap(\.self) ?? 300
let first = numbers.dropFirst().first.flatMap(\.self) ?? 1

let tally = try await CrashTrial.run(seeds: first..<first + count)
print("seeds \(first) to \(first + count - 1)\n\(tally.report)")
exit(tally.faults.isEmpty ? 0 : 1)
