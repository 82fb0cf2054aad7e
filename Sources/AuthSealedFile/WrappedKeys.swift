import AuthModel
import AuthWire

/// The keys of the sessions, and how they are sealed themselves.
///
/// There are two keys only while everything is resealed: the first is the new one.
struct WrappedKeys: Sendable {
    static let fileName = "key"

    var keys: [SealingKey]
    let wrapping: KeyWrapping
    let outer: SealingKey

    init(keys: [SealingKey], wrapping: KeyWrapping, outer: SealingKey) {
        self.keys = keys
        self.wrapping = wrapping
        self.outer = outer
    }

    init(_ file: [UInt8], wrapping: KeyWrapping, outer: SealingKey) throws(SealedBytes.Refusal) {
        let opened = try SealedBytes.open(file, name: Self.fileName, keys: [outer])
        guard let json = try? JSON(parsing: opened.content.revealBytes()), let texts = json["keys"]?.arrayValue else {
            throw .damaged("it has no keys that this authd can read")
        }
        keys = texts.compactMap { $0.stringValue.flatMap(Base64.decode).flatMap { SealingKey(Secret(bytes: $0)) } }
        guard !keys.isEmpty, keys.count == texts.count else {
            throw .damaged("it has no keys that this authd can read")
        }
        self.wrapping = wrapping
        self.outer = outer
    }

    func sealed() throws(StoreError) -> [UInt8] {
        let texts = keys.map { JSON.string(Base64.encode($0.secret.revealBytes())) }
        let content = Secret(bytes: JSON.object(["keys": .array(texts)]).serialized())
        return try SealedBytes.seal(content, name: Self.fileName, label: wrapping.label, generation: 0, key: outer)
    }
}
