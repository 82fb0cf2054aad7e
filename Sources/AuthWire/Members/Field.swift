/// Reads and writes one member, and describes the expected value.
public struct Field<Value: Sendable>: Sendable {
    /// Returns `nil` for another type of value. A nested object throws its own error.
    typealias Read = @Sendable (JSON, ObjectDecoder.Source) throws(AgentError) -> Value?

    let type: MemberType
    let read: Read
    let write: @Sendable (Value) -> JSON
    /// Whether `null` is a value, not the same as absent.
    let acceptsNull: Bool
    /// Whether an invalid value is the same as absent.
    private(set) var ignoresInvalid = false
    private let makeExpectation: @Sendable () -> String

    var expectation: String { makeExpectation() }

    package init(
        _ type: MemberType, _ expectation: @autoclosure @escaping @Sendable () -> String,
        read: @escaping @Sendable (JSON) -> Value?, write: @escaping @Sendable (Value) -> JSON
    ) {
        self.init(nesting: type, expectation(), read: { json, _ in read(json) }, write: write)
    }

    /// - Parameter read: may throw the error of a nested object.
    fileprivate init(
        nesting type: MemberType, _ expectation: @autoclosure @escaping @Sendable () -> String,
        acceptsNull: Bool = false,
        read: @escaping Read, write: @escaping @Sendable (Value) -> JSON
    ) {
        self.type = type
        self.read = read
        self.write = write
        self.acceptsNull = acceptsNull
        makeExpectation = expectation
    }

    /// The same field, for a member whose invalid value is the same as absent.
    package var ignoringInvalid: Field {
        var field = self
        field.ignoresInvalid = true
        return field
    }
}

extension Field where Value == String {
    package static let string = Field(.string, "a string", read: { $0.stringValue }, write: { .string($0) })
}

extension Field where Value == [UInt8] {
    static let base64 = Field(
        .string, "base64 (RFC 4648 §4)", read: { $0.stringValue.flatMap(Base64.decode) },
        write: { .string(Base64.encode($0)) })
}

extension Field where Value == Bool {
    package static let bool = Field(.boolean, "true or false", read: { $0.boolValue }, write: { .bool($0) })
}

extension Field where Value == Int {
    package static let integer = Field(
        .integer, "a whole number", read: { $0.integerValue.flatMap { Int(exactly: $0) } }, write: { .whole($0) })

    /// A number of bytes or the like. It is small enough to be added to others.
    static let count = Field(
        .integer, "a whole number, 0 or more",
        read: { json in json.integerValue.flatMap { (0...largestCount).contains($0) ? Int($0) : nil } },
        write: { .whole($0) })

    /// The largest whole number that every JSON reader has (RFC 8259 §6).
    private static let largestCount: Int64 = 1 << 53
}

extension Field where Value == Int32 {
    static let processID = Field(
        .integer, "a process id", read: { $0.integerValue.flatMap { Int32(exactly: $0) } }, write: { .whole($0) })
}

extension Field where Value == Double {
    static let instant = Field(
        .number, "a number of Unix seconds", read: { $0.doubleValue }, write: { .instant($0) })
}

extension Field where Value == Duration {
    /// For a client's request, with a limit.
    static let milliseconds = Field(
        .integer, "a whole number of milliseconds from 0 to \(Limits.longestDuration.wholeMilliseconds)",
        read: { json in
            json.integerValue.flatMap { (0...Limits.longestDuration.wholeMilliseconds).contains($0) ? $0 : nil }
                .map { .milliseconds($0) }
        }, write: { .milliseconds($0) })

    /// For a measured time or a provider's, without a limit.
    static let length = Field(
        .integer, "a whole number of milliseconds, 0 or more",
        read: { json in json.integerValue.flatMap { $0 < 0 ? nil : .milliseconds($0) } }, write: { .milliseconds($0) })

    /// May be negative.
    static let skew = Field(
        .integer, "a whole number of milliseconds", read: { $0.integerValue.map { .milliseconds($0) } },
        write: { .milliseconds($0) })
}

extension Field where Value == JSON {
    package static let any = Field(.any, "a value", read: { $0 }, write: { $0 })

    package static let anyOrNull = Field(
        nesting: .any, "a value", acceptsNull: true, read: { json, _ in json }, write: { $0 })
}

extension Field where Value == [JSON] {
    static let array = Field(.array, "an array", read: { $0.arrayValue }, write: { .array($0) })
}

extension Field where Value == JSONObject {
    static let object = Field(.object, "an object", read: { $0.objectValue }, write: { .object($0) })
}

extension Field where Value == SessionName {
    package static let sessionName = Field(
        .string, "a session name (\(SessionName.rule))",
        read: { json in
            guard let text = json.stringValue else { return nil }
            return try? SessionName(text)
        }, write: { .string($0.text) })
}

extension Field where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// A case of an enumeration.
    package static var word: Field {
        Field(
            .string, "one of \(Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))",
            read: { json in json.stringValue.flatMap(Value.init(rawValue:)) }, write: { .string($0.rawValue) })
    }
}

extension Field where Value == AgentError {
    static let error = Field(.any, "an error", read: { AgentError(json: $0) }, write: { $0.json })
}

extension Field where Value: WireObject {
    package static var object: Field {
        Field(
            nesting: .object, "an object",
            read: { json, source throws(AgentError) in
                guard case .object(let object) = json else { return nil }
                return try Value(object, from: source)
            }, write: { $0.json })
    }
}

extension Field {
    static func array<Element>(
        _ expectation: @autoclosure @escaping @Sendable () -> String, of element: Field<Element>
    ) -> Field where Value == [Element] {
        Field(
            nesting: .array, expectation(),
            read: { json, source throws(AgentError) in
                guard case .array(let elements) = json else { return nil }
                var values: [Element] = []
                values.reserveCapacity(elements.count)
                for json in elements {
                    guard let value = try element.read(json, source) else { return nil }
                    values.append(value)
                }
                return values
            }, write: { .array($0.map(element.write)) })
    }

    /// An object whose keys are names.
    package static func byName<Element>(
        _ expectation: @autoclosure @escaping @Sendable () -> String, of element: Field<Element>
    ) -> Field where Value == [String: Element] {
        Field(
            nesting: .object, expectation(),
            read: { json, source throws(AgentError) in
                guard case .object(let object) = json else { return nil }
                // One by one: two keys that Swift compares as equal must not trap.
                var values: [String: Element] = [:]
                for (key, json) in object {
                    guard let value = try element.read(json, source) else { return nil }
                    values[key] = value
                }
                return values
            },
            write: { values in
                var object = JSONObject()
                for (key, value) in values.sorted(by: { $0.key < $1.key }) { object[key] = element.write(value) }
                return .object(object)
            })
    }

    package static func list<Element: WireObject>() -> Field where Value == [Element] {
        array("an array of objects", of: .object)
    }
}

extension Field where Value == [String] {
    package static let strings = array("an array of strings", of: .string)
}

extension Field where Value == [SessionName] {
    static let sessionNames = array("a list of session names", of: .sessionName)
}

extension Field where Value == [Topic] {
    static let topics = array("an array of \(Field<Topic>.word.expectation)", of: .word)
}

extension Field where Value == [String: String] {
    package static let stringsByName = byName("an object whose values are strings", of: .string)
}

extension Field where Value == [String: Int] {
    static let countsByName = byName("an object whose values are whole numbers, 0 or more", of: .count)
}

extension Field where Value == [String: Duration] {
    static let skewsByName = byName("an object whose values are whole milliseconds", of: .skew)
}
