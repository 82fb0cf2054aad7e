import AuthWire
import Glibc

/// Prints a provider's response: the body to stdout, notes to stderr.
struct ResponseOutput {
    let options: Options
    /// Prints status and headers before the body, as curl's `-i`.
    var include = false

    func show(_ response: APIResponse, _ json: JSON) throws(Failure) {
        if options.json { return try Output.json(json) }
        if let id = response.queued {
            return Output.note(
                "authc: queued as \(Visible.line(id)); `authc outbox list` shows the queue")
        }
        if response.fromCache {
            Output.note("authc: from the cache, \(Span.text(.milliseconds(response.ageMs ?? 0))) old")
        }
        if include {
            let lines = ["HTTP \(response.status)"] + response.headers.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
            try Output.result(lines.map { Visible.line($0) }.joined(separator: "\n") + "\n")
        }
        try show(body: response)
    }

    private func show(body response: APIResponse) throws(Failure) {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        if let text = response.bodyBase64 {
            guard let bytes = Base64.decode(text) else {
                throw Failure(
                    status: .internalError, kind: "bad_answer", message: "the agent's body_base64 is not base64")
            }
            guard !isTerminal else {
                throw .usage(
                    "the response is \(bytes.count) bytes that are not text", hint: "write it to a file: > FILE")
            }
            return try Output.bytes(bytes[...])
        }
        guard let body = response.body else { return }
        if case .string(let text) = body, !isJSON(response) {
            return try Output.result(isTerminal ? Visible.lines(text) : text)
        }
        if isTerminal {
            try Output.result(Visible.lines(body.text(pretty: true)))
        } else {
            try Output.json(body)
        }
    }

    private func isJSON(_ response: APIResponse) -> Bool {
        let type = (response.headers["content-type"] ?? "").prefix { $0 != ";" }.lowercased()
        return type == "application/json" || type.hasSuffix("+json")
    }
}
