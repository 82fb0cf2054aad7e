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
    /// The arguments of the first page.
    private let arguments: JSONObject
    /// The pages so far, to detect a loop.
    private var seen: Set<String> = []
    private var count = 0
    /// With `--slurp`: nothing is printed before all pages are there.
    private var items: [JSON] = []

    /// - Parameters:
    ///   - name: the endpoint or path, for error messages.
    ///   - arguments: of the first page.
    init(of name: String, _ flags: CallFlags, _ options: Options, arguments: JSONObject = [:]) {
        self.name = name
        self.flags = flags
        self.arguments = arguments
        output = ResponseOutput(options: options, include: flags.include)
    }

    /// - Returns: `nil` if nothing more is to be requested.
    mutating func show(_ response: APIResponse, _ json: JSON) throws(Failure) -> Next? {
        guard flags.all else {
            try output.show(response, json)
            return nil
        }
        count += 1
        if let page = response.page {
            for item in try items(of: response, at: page.items) { try accept(item) }
        } else if flags.slurp {
            guard output.options.json || response.bodyBase64 == nil else {
                throw badReply("is not JSON; remove --slurp")
            }
            try accept(output.options.json ? json : response.body ?? .null)
        } else {
            try output.show(response, json)
        }
        let next: Next
        let mark: String
        if let arguments = response.page?.next {
            // The first page has the same marks as if another one had named it.
            if count == 1 { seen.insert(Self.mark(arguments.keys.map { ($0, self.arguments[$0]) })) }
            (next, mark) = (.arguments(arguments), Self.mark(arguments.keys.map { ($0, arguments[$0]) }))
        } else if let address = response.next {
            if let url = response.url { seen.insert(url) }
            (next, mark) = (.address(address), address)
        } else {
            if flags.slurp { try Output.json(.array(items)) }
            return nil
        }
        guard seen.insert(mark).inserted else { throw badReply("leads back to an earlier page: \(mark)") }
        guard count < Self.most else { throw badReply("is page \(Self.most), and the pages may never end") }
        return next
    }

    private static func mark(_ arguments: [(String, JSON?)]) -> String {
        arguments.map { "\($0)=\($1?.text() ?? "")" }.joined(separator: " ")
    }

    private func items(of response: APIResponse, at place: String) throws(Failure) -> [JSON] {
        guard let pointer = try? JSONPointer(place), let body = response.body,
            let items = pointer.find(in: body)?.arrayValue
        else { throw badReply("has no list at '\(place)'") }
        return items
    }

    private mutating func accept(_ value: JSON) throws(Failure) {
        if flags.slurp { items.append(value) } else { try Output.json(value) }
    }

    private func badReply(_ what: String) -> Failure {
        Failure(
            status: .badReply, kind: ErrorKind.badReply.rawValue,
            message: Visible.line("page \(count) of \(name) \(what)"))
    }
}
