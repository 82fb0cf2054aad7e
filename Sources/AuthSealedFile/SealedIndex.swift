import AuthModel
import AuthWire

/// The files and their lowest valid generations: an older file was restored from a copy.
///
/// Invariant: a file is first written after its entry, and its entry is removed after the file. So somebody else added a file
/// without an entry, and an entry without a file means nothing.
struct SealedIndex: Sendable, Equatable {
    static let fileName = "index"

    /// The number of the next write.
    var next: UInt64 = 1
    /// By file name.
    var generations: [String: UInt64] = [:]

    init() {}

    /// `nil` if it is invalid.
    init?(_ content: Secret) {
        guard let json = try? JSON(parsing: content.revealBytes()), let next = json["next"]?.generation,
            let files = json["files"]?.objectValue
        else { return nil }
        self.next = next
        for (name, value) in files {
            guard let generation = value.generation else { return nil }
            generations[name] = generation
        }
    }

    var content: Secret {
        var files = JSONObject()
        for (name, generation) in generations.sorted(by: { $0.key < $1.key }) { files[name] = JSON(generation) }
        return Secret(bytes: JSON.object(["next": JSON(next), "files": .object(files)]).serialized())
    }

    /// The generation of a write that begins now.
    mutating func begin() -> UInt64 {
        defer { next = SealedBytes.generation(after: next) }
        return next
    }
}

extension JSON {
    fileprivate var generation: UInt64? {
        if case .unsigned(let value) = self { return value }
        return integerValue.flatMap { UInt64(exactly: $0) }
    }
}
