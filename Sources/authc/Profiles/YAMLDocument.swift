import AuthWire
internal import CYAML

/// Reads the first document of a YAML text as JSON, with the types of YAML's core schema (YAML 1.2.2 §10.3).
enum YAMLDocument {
    /// Descriptions of APIs have some megabytes, and libyaml takes a second for ten.
    static let maxBytes = 16 << 20
    /// Values, with those that aliases repeat: a few lines of aliases can stand for billions.
    static let maxValues = 1_000_000
    static let maxDepth = 64

    static func read(_ bytes: [UInt8]) throws(YAMLError) -> JSON {
        guard bytes.count <= maxBytes else { throw YAMLError(reason: "YAML may have at most \(maxBytes >> 20) MiB") }
        return try YAMLParser(bytes).document()
    }
}

struct YAMLError: Error {
    let reason: String
}

/// libyaml's parser and its text.
///
/// Safe: both are allocated by `init`, live until `deinit`, and never leave this object.
@safe private final class YAMLParser {
    private struct Node {
        let json: JSON
        /// Values in it.
        let count: Int
    }

    private let text: UnsafeMutableBufferPointer<UInt8>
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private var anchors: [String: Node] = [:]
    private var values = 0

    init(_ bytes: [UInt8]) throws(YAMLError) {
        unsafe text = .allocate(capacity: bytes.count)
        _ = unsafe text.initialize(from: bytes)
        unsafe parser = .allocate(capacity: 1)
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            unsafe text.deallocate()
            unsafe parser.deallocate()
            throw YAMLError(reason: "there is not enough memory")
        }
        unsafe yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe text.deallocate()
    }

    func document() throws(YAMLError) -> JSON {
        var event = try next()
        while event.kind == YAML_STREAM_START_EVENT || event.kind == YAML_DOCUMENT_START_EVENT { event = try next() }
        return try node(event, depth: 0).json
    }

    private struct Event {
        let kind: yaml_event_type_t
        var anchor: String?
        var text = ""
        var isPlain = false
        var tag: String?
    }

    private func next() throws(YAMLError) -> Event {
        var raw = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &raw) == 1 else {
            let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "it cannot be read"
            let line = unsafe parser.pointee.problem_mark.line
            throw YAMLError(reason: "line \(line + 1): \(problem)")
        }
        defer { unsafe yaml_event_delete(&raw) }
        func string(_ bytes: UnsafeMutablePointer<yaml_char_t>?) -> String? {
            unsafe bytes.map { unsafe String(cString: $0) }
        }
        var event = unsafe Event(kind: raw.type)
        switch event.kind {
        case YAML_SCALAR_EVENT:
            let scalar = unsafe raw.data.scalar
            unsafe event.anchor = string(scalar.anchor)
            unsafe event.tag = string(scalar.tag)
            event.isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
            if let value = unsafe scalar.value {
                event.text = unsafe String(
                    decoding: UnsafeBufferPointer(start: value, count: scalar.length), as: UTF8.self)
            }
        case YAML_ALIAS_EVENT: unsafe event.anchor = string(raw.data.alias.anchor)
        case YAML_SEQUENCE_START_EVENT: unsafe event.anchor = string(raw.data.sequence_start.anchor)
        case YAML_MAPPING_START_EVENT: unsafe event.anchor = string(raw.data.mapping_start.anchor)
        default: break
        }
        return event
    }

    private func node(_ event: Event, depth: Int) throws(YAMLError) -> Node {
        guard depth < YAMLDocument.maxDepth else {
            throw YAMLError(reason: "it has more than \(YAMLDocument.maxDepth) levels")
        }
        if event.kind == YAML_ALIAS_EVENT {
            guard let node = event.anchor.flatMap({ anchors[$0] }) else {
                throw YAMLError(reason: "an alias has no anchor before it")
            }
            try count(node.count)
            return node
        }
        let before = values
        try count(1)
        let json: JSON
        switch event.kind {
        case YAML_SCALAR_EVENT: json = Self.scalar(event)
        case YAML_SEQUENCE_START_EVENT: json = .array(try elements(depth))
        case YAML_MAPPING_START_EVENT: json = .object(try members(depth))
        default: throw YAMLError(reason: "it has no document")
        }
        let node = Node(json: json, count: values - before)
        if let anchor = event.anchor { anchors[anchor] = node }
        return node
    }

    private func count(_ more: Int) throws(YAMLError) {
        values += more
        guard values <= YAMLDocument.maxValues else {
            throw YAMLError(reason: "it has more than \(YAMLDocument.maxValues) values, with those that aliases repeat")
        }
    }

    private func elements(_ depth: Int) throws(YAMLError) -> [JSON] {
        var elements: [JSON] = []
        while true {
            let event = try next()
            if event.kind == YAML_SEQUENCE_END_EVENT { return elements }
            elements.append(try node(event, depth: depth + 1).json)
        }
    }

    private func members(_ depth: Int) throws(YAMLError) -> JSONObject {
        var members = JSONObject()
        while true {
            let event = try next()
            if event.kind == YAML_MAPPING_END_EVENT { return members }
            guard event.kind == YAML_SCALAR_EVENT else { throw YAMLError(reason: "a key is not a text") }
            if event.isPlain, event.text == "<<" { throw YAMLError(reason: "merge keys (<<) are not supported") }
            let key = event.text
            members[key] = try node(try next(), depth: depth + 1).json
        }
    }

    /// A plain scalar may be null, a boolean or a number.
    private static func scalar(_ event: Event) -> JSON {
        guard event.isPlain, event.tag == nil else { return .string(event.text) }
        switch event.text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return true
        case "false", "False", "FALSE": return false
        default: break
        }
        guard let first = event.text.utf8.first, first == UInt8(ascii: "-") || (48...57).contains(first) else {
            return .string(event.text)
        }
        let number = try? JSON(parsing: event.text)
        return number?.doubleValue == nil ? .string(event.text) : number ?? .null
    }
}
