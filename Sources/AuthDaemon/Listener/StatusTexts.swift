import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import NIOCore

/// The texts of statuses that were requested since the last change. All clients with full access get the same ones, so a program
/// that asks repeatedly, or another process each time, is answered without JSON values.
///
/// Invariant: all texts show the state of `version`.
struct StatusTexts {
    /// What a text depends on.
    struct Version: Equatable {
        /// ``StateBoard/version``, read before the state.
        let board: UInt64
        /// The generation of the settings and rules.
        let rules: Int
    }

    /// `authc status` requests two, and a program that shows some sessions one for each.
    private static let most = 8
    /// A list of many sessions is rendered each time.
    private static let longest = 4 << 10

    private var version: Version?
    private var texts: [PlainStatusRequest.Question: [UInt8]] = [:]

    func text(of question: PlainStatusRequest.Question, at version: Version) -> [UInt8]? {
        self.version == version ? texts[question] : nil
    }

    mutating func keep(_ text: [UInt8], of question: PlainStatusRequest.Question, at version: Version) {
        if self.version != version || texts.count >= Self.most { texts.removeAll(keepingCapacity: true) }
        self.version = version
        if text.count <= Self.longest { texts[question] = text }
    }
}

extension ConnectionRegistry {
    /// The result of a request for a status, as JSON text.
    /// - Returns: `nil` if rules decide about it, if the store has to be read first, or if the result is an error.
    func statusText(of question: PlainStatusRequest.Question, for caller: Caller) -> [UInt8]? {
        let version = StatusTexts.Version(board: board.version, rules: caller.generation)
        if let text = statusTexts.text(of: question, at: version) { return text }
        guard !dispatcher.access.policy.testsStatusRequests,
            case .now(.success(let json)) = dispatcher.answer(question.request(id: nil), from: caller)
        else { return nil }
        let text = json.serialized()
        statusTexts.keep(text, of: question, at: version)
        return text
    }
}

extension Connection {
    /// Whether it was answered: the same request with the same text as before, if nothing has changed.
    func answer(_ plain: PlainStatusRequest, in line: ByteBuffer) -> Bool {
        guard confinement == nil, let text = registry.statusText(of: plain.question, for: caller),
            let id = line.getSlice(at: line.readerIndex + plain.id.lowerBound, length: plain.id.count)
        else { return false }
        registry.counters.request()
        write { output in
            output.writeStaticString(RPCReply.head)
            output.writeImmutableBuffer(id)
            output.writeStaticString(RPCReply.middle)
            output.writeBytes(text)
            output.writeStaticString("}\n")
        }
        return true
    }
}
