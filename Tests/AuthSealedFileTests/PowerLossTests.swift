import AuthFiles
import AuthModel
import AuthSealedFile
import AuthWire
import Foundation
import TestSupport
import Testing

/// The order of write, fsync and rename, tested against a disk that loses everything that was not synced.
@Suite("Sealed files at a power failure", .timeLimit(.minutes(2)))
struct PowerLossTests {
    @Test("at every moment of a rotation the session is old or new, and never older than was reported")
    func rotation() async throws {
        let place = try SealedPlace(syncs: false)
        let tape = Tape()
        var promised: [Int: UInt64] = [:]
        try await place.start(note: tape.note) { store in
            for revision in 1...4 as ClosedRange<UInt64> {
                try await store.save(sample(revision: revision))
                promised[tape.steps.count] = revision
            }
        }
        var seen = 0
        for (moment, disk) in Disk.everyLoss(of: tape.steps) {
            let least = promised.filter { $0.key <= moment }.values.max() ?? 0
            let found = try await disk.restarted(with: place.source)
            #expect(found.damage.isEmpty, "after step \(moment): \(found.damage)")
            let revision = found.records.first?.revision ?? 0
            #expect(revision == least || revision == least + 1, "after step \(moment) of \(tape.steps)")
            seen += 1
        }
        #expect(seen > 60)
    }

    @Test("at every moment of a sign-out the session exists or not, and nothing is damaged")
    func signOut() async throws {
        let place = try SealedPlace(syncs: false)
        let tape = Tape()
        var written = 0
        var removed = 0
        try await place.start(note: tape.note) { store in
            try await store.save(sample())
            written = tape.steps.count
            try await store.delete(SessionName("work"))
            removed = tape.steps.count
        }
        for (moment, disk) in Disk.everyLoss(of: tape.steps) where moment >= written {
            let found = try await disk.restarted(with: place.source)
            #expect(found.damage.isEmpty, "after step \(moment): \(found.damage)")
            if moment == removed { #expect(found.records.isEmpty) }
        }
    }

    @Test("at every moment of rekeying every session opens, and the next start continues")
    func rekeying() async throws {
        let place = try SealedPlace(syncs: false)
        let tape = Tape()
        var before = 0
        try await place.start(note: tape.note) { store in
            for name in ["home", "work"] { try await store.save(sample(name)) }
            before = tape.steps.count
            try await store.rekey(.sameOutside, current: nil)
        }
        for (moment, disk) in Disk.everyLoss(of: tape.steps) where moment >= before {
            // Twice: the first start completes what was begun.
            for _ in 1...2 {
                let found = try await disk.restarted(with: place.source)
                #expect(try found.records == [sample("home"), sample("work")], "after step \(moment): \(found.damage)")
            }
        }
    }
}

/// What a disk may hold after a loss of power.
private final class Disk {
    private let place: SealedPlace

    /// - Parameter source: the source of the agent that wrote.
    func restarted(with source: SealingSource) async throws -> [StoredSession] {
        try await place.start(source) { try await $0.loadAll() }
    }

    private init(_ files: [String: [UInt8]]) throws {
        place = try SealedPlace(syncs: false)
        try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: true)
        for (name, bytes) in files { try place.put(Data(bytes), name) }
    }

    /// After each step, each possible state of the disk: synced data is there. Otherwise a file has all of its bytes, half
    /// of them or none, and each change of the folder has happened or not.
    static func everyLoss(of steps: [DurableFolder.Step]) -> some Sequence<(Int, Disk)> {
        (0...steps.count).lazy.flatMap { moment in
            states(after: Array(steps[..<moment])).compactMap { files in
                (try? Disk(files)).map { (moment, $0) }
            }
        }
    }

    private static func states(after steps: [DurableFolder.Step]) -> [[String: [UInt8]]] {
        var durable: [String: [UInt8]] = [:]
        var contents: [String: [UInt8]] = [:]
        var unsynced: Set<String> = []
        var changes: [DurableFolder.Step] = []
        for step in steps {
            switch step {
            case .wrote(let name, let bytes):
                contents[name] = bytes
                unsynced.insert(name)
            case .syncedFile(let name): unsynced.remove(name)
            case .renamed(let name, let new):
                contents[new] = contents.removeValue(forKey: name)
                if unsynced.remove(name) != nil { unsynced.insert(new) }
                changes.append(step)
            case .removed: changes.append(step)
            case .syncedFolder:
                apply(changes, contents, to: &durable)
                changes = []
            }
        }
        return (0..<(1 << changes.count)).flatMap { chosen in
            [1.0, 0.5, 0].map { share in
                var files = durable
                let happened = changes.enumerated().filter { chosen >> $0.offset & 1 == 1 }.map(\.element)
                apply(happened, contents, to: &files)
                for name in unsynced {
                    guard let bytes = contents[name] else { continue }
                    files[name] = Array(bytes.prefix(Int(Double(bytes.count) * share)))
                }
                return files
            }
        }
    }

    private static func apply(
        _ changes: [DurableFolder.Step], _ contents: [String: [UInt8]], to files: inout [String: [UInt8]]
    ) {
        for change in changes {
            switch change {
            case .renamed(_, let new): files[new] = contents[new]
            case .removed(let name): files[name] = nil
            default: break
            }
        }
    }
}
