/// Requests that are sent to the agent at once, and its answers.
struct AgentExchange {
    /// The agent answers from memory at once. A renewal or a question takes longer: authc-full waits for it.
    static let memory: Int32 = 250
    /// A provider may be asked: it would be asked twice if authc-full repeated the request.
    static let provider: Int32 = 60_000
    /// An access token has at most 32 KiB. A hundred sessions have less, too.
    private static let longestAnswers = 64 << 10

    private var lines = ByteString()
    private var count = 0

    /// - Parameter params: their members, without the braces around them.
    mutating func add(_ method: StaticString, _ params: ByteString = ByteString()) {
        count += 1
        lines.append(#"{"jsonrpc":"2.0","id":"#)
        lines.append(count)
        lines.append(#","method":""#)
        lines.append(method)
        lines.append(#"","params":{"#)
        lines.append(params)
        lines.append("}}\n")
    }

    /// - Parameters:
    ///   - milliseconds: how long the answers may take.
    ///   - body: gets the answers. They end with it.
    /// - Returns: what it returns; `nil` if there are no answers.
    func run(in folder: AgentFolder, within milliseconds: Int32, _ body: (AgentAnswers) -> Int32?) -> Int32? {
        guard let socket = AgentSocket(folder.socket), socket.send(lines.bytes) else { return nil }
        return unsafe withUnsafeTemporaryAllocation(byteCount: Self.longestAnswers, alignment: 1) { room in
            unsafe socket.receive(count, into: room, within: milliseconds).flatMap {
                body(AgentAnswers(lines: $0))
            }
        }
    }
}

/// The agent's lines.
struct AgentAnswers {
    let lines: Text

    /// The result of a request; `nil` for an error, or for any form other than the usual one.
    /// - Parameter number: counted from 1.
    func result(_ number: Int) -> JSONValue? {
        var start = ByteString()
        start.append(#"{"jsonrpc":"2.0","id":"#)
        start.append(number)
        start.append(#","result":"#)
        var rest = lines
        while let line = rest.prefix(before: .lineFeed) {
            if line.starts(with: start) {
                let value = line.dropping(start.bytes.count)
                guard let end = JSONText.end(of: value, from: 0), end == value.count - 1,
                    value[end] == UInt8(ascii: "}")
                else { return nil }
                return JSONValue(text: value.prefix(end))
            }
            rest = rest.dropping(line.count + 1)
        }
        return nil
    }
}

extension ByteString {
    /// Adds a member to the params of a request: a string without escapes.
    mutating func append(member name: StaticString, _ value: Text) {
        if !bytes.isEmpty { append(",") }
        append("\"")
        append(name)
        append("\":\"")
        append(value)
        append("\"")
    }

    mutating func append(member name: StaticString, _ value: StaticString) {
        unsafe append(
            member: name, Text(UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount)))
    }
}
