/// Reads the members of one object of the protocol; an error names the key and what was expected, never the value.
///
/// `null` is the same as not being there.
struct Members {
    let object: JSONObject
    private let place: Place

    /// Whose object it is, which decides how an error reads.
    enum Place {
        /// The caller's: -32602.
        case params
        /// The agent's, read by a client.
        case result
    }

    init(_ object: JSONObject, in place: Place) {
        self.object = object
        self.place = place
    }

    init(result json: JSON) throws(AgentError) {
        guard case .object(let object) = json else {
            throw .internalError("The agent's answer should be an object and is \(json.kindInWords).")
        }
        self.init(object, in: .result)
    }

    func required<Value>(_ key: String, _ wanted: Wanted<Value>) throws(AgentError) -> Value {
        guard let value = try optional(key, wanted) else { throw problem(key, wanted.words, found: "nothing") }
        return value
    }

    func optional<Value>(_ key: String, _ wanted: Wanted<Value>) throws(AgentError) -> Value? {
        guard let json = object[key], !json.isNull else { return nil }
        guard let value = wanted.read(json) else { throw problem(key, wanted.words, found: json.kindInWords) }
        return value
    }

    /// A value of the protocol's own inside this one.
    func nested<Value>(
        _ key: String, _ read: (JSON) throws(AgentError) -> Value
    ) throws(AgentError) -> Value? {
        guard let json = object[key], !json.isNull else { return nil }
        return try read(json)
    }

    /// A list of such values; none when the key is not there.
    func list<Value>(
        _ key: String, _ read: (JSON) throws(AgentError) -> Value
    ) throws(AgentError) -> [Value]? {
        guard let elements = try optional(key, .array) else { return nil }
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for element in elements { values.append(try read(element)) }
        return values
    }

    func problem(_ key: String, _ expected: String, found: String) -> AgentError {
        switch place {
        case .params: .invalidParams("params.\(key): expected \(expected), found \(found).")
        case .result: .internalError("The agent's answer: \(key): expected \(expected), found \(found).")
        }
    }
}

/// What a member should be: in words, and as a reading that is `nil` where it is something else.
struct Wanted<Value: Sendable>: Sendable {
    private let makeWords: @Sendable () -> String
    let read: @Sendable (JSON) -> Value?

    var words: String { makeWords() }

    init(_ words: @autoclosure @escaping @Sendable () -> String, _ read: @escaping @Sendable (JSON) -> Value?) {
        makeWords = words
        self.read = read
    }
}

extension Wanted where Value == String {
    static let string = Wanted("a string") { $0.stringValue }
}

extension Wanted where Value == [UInt8] {
    static let base64 = Wanted("base64 (RFC 4648 §4)") { $0.stringValue.flatMap(Base64.decode) }
}

extension Wanted where Value == Bool {
    static let bool = Wanted("true or false") { $0.boolValue }
}

extension Wanted where Value == Int {
    static let integer = Wanted("a whole number") { $0.integerValue.flatMap { Int(exactly: $0) } }

    /// Of bytes.
    static let count = Wanted("a whole number, 0 or more") { json in
        json.integerValue.flatMap { $0 < 0 ? nil : Int(exactly: $0) }
    }
}

extension Wanted where Value == Double {
    static let instant = Wanted("a number of Unix seconds") { $0.doubleValue }
}

extension Wanted where Value == Duration {
    static let milliseconds = Wanted(
        "a whole number of milliseconds from 0 to \(Limits.longestDuration.wholeMilliseconds)"
    ) { json in
        json.integerValue.flatMap { (0...Limits.longestDuration.wholeMilliseconds).contains($0) ? $0 : nil }
            .map { .milliseconds($0) }
    }
}

extension Wanted where Value == JSON {
    static let any = Wanted("a value") { $0 }
}

extension Wanted where Value == [JSON] {
    static let array = Wanted("an array") { $0.arrayValue }
}

extension Wanted where Value == JSONObject {
    static let object = Wanted("an object") { $0.objectValue }
}

extension Wanted where Value == [String] {
    static let strings = Wanted("an array of strings") { json in
        guard let elements = json.arrayValue else { return nil }
        let texts = elements.compactMap(\.stringValue)
        return texts.count == elements.count ? texts : nil
    }
}

extension Wanted where Value == [String: String] {
    static let stringsByName = Wanted("an object whose values are strings") { json in
        guard let object = json.objectValue else { return nil }
        // One by one: two keys that Swift takes as one text must not stop the program.
        var texts: [String: String] = [:]
        for (key, value) in object {
            guard let text = value.stringValue else { return nil }
            texts[key] = text
        }
        return texts
    }
}

extension Wanted where Value == SessionName {
    static let sessionName = Wanted("a session name (\(SessionName.rule))") { json in
        guard let text = json.stringValue else { return nil }
        return try? SessionName(text)
    }
}

extension Wanted where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the words of an enumeration.
    static var word: Wanted {
        Wanted("one of \(Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))") { json in
            json.stringValue.flatMap(Value.init(rawValue:))
        }
    }
}

extension Wanted where Value == [Topic] {
    static let topics = Wanted("an array of \(Wanted<Topic>.word.words)") { json in
        guard let elements = json.arrayValue else { return nil }
        let topics = elements.compactMap { $0.stringValue.flatMap(Topic.init(rawValue:)) }
        return topics.count == elements.count ? topics : nil
    }
}

extension JSON {
    static func text(_ map: [String: String]) -> JSON {
        var object = JSONObject()
        for (key, value) in map.sorted(by: { $0.key < $1.key }) { object[key] = .string(value) }
        return .object(object)
    }

    static func strings(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }

    static func whole(_ value: some BinaryInteger) -> JSON { .integer(Int64(clamping: value)) }

    static func milliseconds(_ duration: Duration) -> JSON { .integer(duration.wholeMilliseconds) }

    /// Unix seconds, whole ones without a fraction.
    static func instant(_ seconds: Double) -> JSON { Int64(exactly: seconds).map(JSON.integer) ?? .number(seconds) }
}
