/// A JSON object: its members in their original order. The last of equal keys wins.
///
/// Invariant: `index` is `nil` up to `indexedFrom` members and complete above, so that reading n members takes linear time
/// for any keys.
public struct JSONObject: Sendable {
    /// Below this, a linear search is faster than hashing.
    private static let indexedFrom = 16

    private var members: [(key: String, value: JSON)]
    private var index: [ByteExactKey: Int]?

    public init() {
        members = []
        index = nil
    }

    init(reserving count: Int) {
        self.init()
        members.reserveCapacity(count)
    }

    public var count: Int { members.count }

    public var isEmpty: Bool { members.isEmpty }

    public var keys: [String] { members.map(\.key) }

    /// Setting `nil` removes the member. Setting an existing key keeps its place.
    public subscript(_ key: String) -> JSON? {
        get { position(of: key).map { members[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let found?, let value?): members[found].value = value
            case (let found?, nil): remove(at: found)
            case (nil, let value?): append(key, value)
            case (nil, nil): break
            }
        }
    }

    private func position(of key: String) -> Int? {
        if let index { return index[ByteExactKey(text: key)] }
        return members.firstIndex { $0.key.isSameText(as: key) }
    }

    private mutating func append(_ key: String, _ value: JSON) {
        members.append((key, value))
        if index != nil {
            index?[ByteExactKey(text: key)] = members.count - 1
        } else if members.count > Self.indexedFrom {
            rebuildIndex()
        }
    }

    private mutating func remove(at position: Int) {
        members.remove(at: position)
        if members.count > Self.indexedFrom { rebuildIndex() } else { index = nil }
    }

    private mutating func rebuildIndex() {
        var fresh = [ByteExactKey: Int](minimumCapacity: members.count * 2)
        for (position, member) in members.enumerated() { fresh[ByteExactKey(text: member.key)] = position }
        index = fresh
    }

    /// A key that is compared byte by byte: Swift's `String` treats two encodings of "é" as equal.
    private struct ByteExactKey: Hashable {
        let text: String

        static func == (left: ByteExactKey, right: ByteExactKey) -> Bool { left.text.isSameText(as: right.text) }

        func hash(into hasher: inout Hasher) {
            let bytes = text.utf8Span.span
            for position in bytes.indices { hasher.combine(bytes[position]) }
        }
    }
}

extension JSONObject: Equatable {
    /// Ignores the order of members (RFC 8259 §1).
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }
}

extension JSONObject: Sequence {
    public func makeIterator() -> IndexingIterator<[(key: String, value: JSON)]> { members.makeIterator() }

    public var underestimatedCount: Int { members.count }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public typealias Key = String
    public typealias Value = JSON

    public init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(reserving: Swift.max(elements.count, 4))
        for (key, value) in elements { self[key] = value }
    }
}

extension String {
    /// Whether both are the same bytes.
    func isSameText(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // Equal ASCII text has equal bytes, so most cases need no loop. Other text is normalized before it is compared.
        let areASCII = utf8Span.isKnownASCII && other.utf8Span.isKnownASCII
        return areASCII ? self == other : utf8.elementsEqual(other.utf8)
    }
}
