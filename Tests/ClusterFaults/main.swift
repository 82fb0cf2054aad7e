import ClusterTrial
import Glibc

// cluster-faults [FAULTS [FIRST [PAGE]]]: plays that many faults of a cluster, with the seeds from FIRST on. Its status is 1
// if a rule was broken. PAGE is Docs/cluster.md: the section with the times of the other hosts is written there.

let arguments = Array(CommandLine.arguments.dropFirst())
let numbers = arguments.prefix(2).map { UInt64($0) }
guard arguments.count <= 3, !numbers.contains(nil) else {
    print("usage: cluster-faults [FAULTS [FIRST [PAGE]]]")
    exit(64)
}
OwnNetwork.enter(arguments)
let count = numbers.first.flatMap(\.self) ?? 100
let first = numbers.dropFirst().first.flatMap(\.self) ?? 1

do {
    let tally = try await ClusterTrial.run(seeds: first..<first + count) { line in
        print(line)
        fflush(nil)
    }
    if let page = arguments.dropFirst(2).first, let reason = try await ClusterPage.write(tally, to: page) {
        print(reason)
    }
    print("seeds \(first) to \(first + count - 1)\n\(tally.report)")
    exit(tally.faults.isEmpty && tally.count == count ? 0 : 1)
} catch {
    print("seeds \(first) to \(first + count - 1): \(error)")
    exit(1)
}
