extension JSON {
    static func text(_ map: [String: String]) -> JSON {
        var object = JSONObject()
        for (key, value) in map.sorted(by: { $0.key < $1.key }) { object[key] = .string(value) }
        return .object(object)
    }

    static func strings(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }

    static func whole(_ value: some BinaryInteger) -> JSON { .integer(Int64(clamping: value)) }

    static func milliseconds(_ duration: Duration) -> JSON { .integer(duration.wholeMilliseconds) }

    /// Unix seconds. Whole seconds have no fraction.
    static func instant(_ seconds: Double) -> JSON { Int64(exactly: seconds).map(JSON.integer) ?? .number(seconds) }
}
