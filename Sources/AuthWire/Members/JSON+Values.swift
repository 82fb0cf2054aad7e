extension JSON {
    static func whole(_ value: some BinaryInteger) -> JSON { .integer(Int64(clamping: value)) }

    static func milliseconds(_ duration: Duration) -> JSON { .integer(duration.wholeMilliseconds) }

    /// Unix seconds. Whole seconds have no fraction.
    static func instant(_ seconds: Double) -> JSON { Int64(exactly: seconds).map(JSON.integer) ?? .number(seconds) }
}
