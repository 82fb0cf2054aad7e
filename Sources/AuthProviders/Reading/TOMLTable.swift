internal import CTOML

/// A table of a TOML document, as toml++ has read it.
struct TOMLTable: Sendable {
    private(set) var keys: [String] = []
    private var values: [String: TOMLNode] = [:]

    var isEmpty: Bool { keys.isEmpty }

    subscript(key: String) -> TOMLNode? { values[key] }

    /// - Returns: whether it is the first value of the key.
    fileprivate mutating func add(_ value: TOMLNode, for key: String) -> Bool {
        guard values.updateValue(value, forKey: key) == nil else { return false }
        keys.append(key)
        return true
    }
}

/// Dates and times have no use in profiles and settings: only their type is known.
enum TOMLNode: Sendable {
    case string(String)
    case int(Int)
    case double(Double)
    case bool(Bool)
    case array([TOMLNode])
    case table(TOMLTable)
    case other(TOMLType)

    var type: TOMLType {
        switch self {
        case .string: .string
        case .int: .int
        case .double: .double
        case .bool: .bool
        case .array: .array
        case .table: .table
        case .other(let type): type
        }
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var int: Int? { if case .int(let number) = self { number } else { nil } }
    var double: Double? { if case .double(let number) = self { number } else { nil } }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var array: [TOMLNode]? { if case .array(let elements) = self { elements } else { nil } }
    var table: TOMLTable? { if case .table(let table) = self { table } else { nil } }
}

/// The raw value is for messages.
enum TOMLType: String, Sendable, CustomStringConvertible {
    case table, array, string
    case int = "integer"
    case double = "floating-point number"
    case bool, date, time
    case dateTime = "date-time"

    var description: String { rawValue }
}

struct TOMLError: Error {
    /// From 1; 0 if it is unknown.
    let line: Int
    let message: String
}

extension TOMLTable {
    init(_ text: String) throws(TOMLError) {
        var tree = TreeUnderConstruction()
        var error = toml_error()
        let status = unsafe withUnsafeMutablePointer(to: &tree) { tree in
            unsafe toml_read(
                text, text.utf8.count,
                { context, key, value in
                    let tree = unsafe context?.assumingMemoryBound(to: TreeUnderConstruction.self)
                    unsafe tree?.pointee.add(value, for: String(key))
                }, tree, &error)
        }
        guard status == 0 else {
            let message = unsafe withUnsafeBytes(of: error.message) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw TOMLError(line: Int(error.line), message: message)
        }
        if let key = tree.repeatedKey { throw TOMLError(line: 0, message: "the key \(key) twice") }
        self = tree.root
    }
}

/// Tables and arrays whose end was not reported yet.
private struct TreeUnderConstruction {
    private enum Container {
        case table(TOMLTable)
        case array([TOMLNode])
    }

    private(set) var root = TOMLTable()
    /// The first key that a table has twice for Swift, which compares characters. toml++ compares bytes, and Unicode
    /// has two forms of some characters.
    private(set) var repeatedKey: String?
    private var open: [(key: String, container: Container)] = []

    mutating func add(_ value: toml_value, for key: String) {
        switch unsafe value.kind {
        case TOML_TABLE: open.append((key, .table(TOMLTable())))
        case TOML_ARRAY: open.append((key, .array([])))
        case TOML_END:
            guard let (key, container) = open.popLast() else { return }
            switch container {
            case .table(let table): add(.table(table), for: key)
            case .array(let elements): add(.array(elements), for: key)
            }
        case TOML_STRING: add(.string(unsafe String(value.text)), for: key)
        case TOML_INTEGER: add(.int(unsafe Int(value.integer)), for: key)
        case TOML_BOOLEAN: add(.bool(unsafe value.integer != 0), for: key)
        case TOML_DATE: add(.other(.date), for: key)
        case TOML_TIME: add(.other(.time), for: key)
        case TOML_DATE_TIME: add(.other(.dateTime), for: key)
        default: add(.double(unsafe value.number), for: key)
        }
    }

    private mutating func add(_ value: TOMLNode, for key: String) {
        guard let last = open.indices.last else {
            if !root.add(value, for: key) { repeatedKey = repeatedKey ?? key }
            return
        }
        switch open[last].container {
        case .table(var table):
            // Without a second reference to what grows.
            open[last].container = .array([])
            if !table.add(value, for: key) { repeatedKey = repeatedKey ?? key }
            open[last].container = .table(table)
        case .array(var elements):
            open[last].container = .array([])
            elements.append(value)
            open[last].container = .array(elements)
        }
    }
}

extension String {
    fileprivate init(_ text: toml_text) {
        self = unsafe String(decoding: UnsafeRawBufferPointer(start: text.bytes, count: text.count), as: UTF8.self)
    }
}
