import AuthWire

/// Prints a response, and with `--all` the pages after it.
struct PageOutput {
    /// How the next page is requested.
    enum Next {
        /// Values that replace those of this page's arguments.
        case arguments(JSONObject)
        case address(String)
    }

    /// A provider's pages may never end.
    private static let most = 100_000

    private let name: String
    private let flags: CallFlags
    private let output: ResponseOutput
    /// The next pages so far, to detect a loop.
    private var seen: Set<String> = []
    private var hasPrinted = false

    /// - Parameter name: the endpoint or path, for error messages.
    init(of name: String, _ flags: CallFlags, _ options: Options) {
        self.name = name
        self.flags = flags
        output = ResponseOutput(options: options, include: flags.include)
    }

    /// - Returns: `nil` if nothing more is to be requested.
    mutating func show(_ response: APIResponse, _ json: JSON) throws(Failure) -> Next? {
        guard flags.all else {
            try output.show(response, json)
            return nil
        }
        if let page = response.page {
            for item in try items(of: response, at: page.items) { try print(item) }
        } else if flags.slurp {
            guard output.options.json || response.bodyBase64 == nil else {
                throw badReply("is not JSON; remove --slurp")
            }
            try print(output.options.json ? json : response.body ?? .null)
        } else {
            try output.show(response, json)
        }
        let next: Next
        let mark: String
        if let arguments = response.page?.next {
            (next, mark) = (.arguments(arguments), JSON.object(arguments).text())
        } else if let address = response.next {
            (next, mark) = (.address(address), address)
        } else {
            if flags.slurp { try Output.raw(hasPrinted ? "]\n" : "[]\n") }
            return nil
        }
        guard seen.insert(mark).inserted else { throw badReply("leads back to an earlier page: \(mark)") }
        guard seen.count < Self.most else { throw badReply("is page \(Self.most), and the pages may never end") }
        return next
    }

    private func items(of response: APIResponse, at place: String) throws(Failure) -> [JSON] {
        guard let pointer = try? JSONPointer(place), let body = response.body,
            let items = pointer.find(in: body)?.arrayValue
        else { throw badReply("has no list at '\(place)'") }
        return items
    }

    private mutating func print(_ value: JSON) throws(Failure) {
        if flags.slurp {
            try Output.raw(hasPrinted ? "," : "[")
            hasPrinted = true
        }
        try Output.json(value)
    }

    private func badReply(_ what: String) -> Failure {
        Failure(
            status: .badReply, kind: ErrorKind.badReply.rawValue,
            message: Visible.line("page \(seen.count + 1) of \(name) \(what)"))
    }
}
