import AgentTestSupport
import AuthModel
import AuthWire
import Glibc

@testable import AuthDaemon

extension FuzzTarget {
    /// Lines of a client, carried out by an agent in memory: for a client with limited access, and for one of the user's own.
    static let dispatch = FuzzTarget("dispatch", longest: 2048, changes: 300) { bytes throws(Violation) in
        var input = InputReader(bytes)
        var lines: [[UInt8]] = []
        while lines.count < mostLines, let line = input.line() { lines.append(Array(line)) }
        let (thread, clock, waits) = (CallingThread(), ManualClock(), Waits())
        let end = ContinuousClock.now + longestTrial
        let outcome = thread.run { [lines] in
            await trial(of: lines, clock, waits)
        } whenWaiting: {
            if !waits.endAll() { clock.advance(.seconds(3600)) }
            return ContinuousClock.now < end
        }
        guard let outcome else { throw Violation("a request does not end when its time is over") }
        if let violation = outcome { throw violation }
    }

    /// More lines find nothing new.
    private static let mostLines = 4
    /// A trial takes some milliseconds, and longer if the machine is busy with something else.
    private static let longestTrial = Duration.seconds(60)

    private static func trial(of lines: [[UInt8]], _ clock: ManualClock, _ waits: Waits) async -> Violation? {
        guard let agent = try? await FuzzedAgent(clock: clock) else { return Violation("the agent did not start") }
        return await agent.running { agent in
            do throws(Violation) {
                for line in lines {
                    for isConfined in [true, false] {
                        try await check(line, FuzzedClient(of: agent, isConfined: isConfined, waits: waits), isConfined)
                    }
                }
                let log = agent.audit.list(after: nil, limit: 1000).json.serialized()
                try require(!contains(log, FuzzedSecret.all, unless: lines), "the audit log has a secret")
                for event in agent.events.all {
                    let text = event.json.serialized()
                    try require(!contains(text, FuzzedSecret.all, unless: lines), "an event has a secret")
                }
                return nil
            } catch {
                return error
            }
        }
    }

    private static func check(_ line: [UInt8], _ client: FuzzedClient, _ isConfined: Bool) async throws(Violation) {
        let incoming = RPCIncoming(line: line)
        let plain = client.plainAnswer(to: line)
        let answers = await client.answers(to: incoming)
        let requests: [Result<RPCRequest, RPCProblem>] =
            switch incoming {
            case .single(let request): [request]
            case .batch(let requests): requests
            }
        try checkForm(answers, of: requests, isBatch: requests.count > 1 || incoming.isBatch)
        if let plain {
            try require(plain.last == UInt8(ascii: "\n"), "a plain answer does not end its line")
            let same = try? JSON(parsing: plain.dropLast())
            let isSame = answers.count == 1 && same == (try? JSON(parsing: answers[0]))
            try require(isSame, "a plain answer differs from the parsed one")
        }
        let methods = requests.compactMap { try? $0.get().method }
        for answer in answers {
            try require(!contains(answer, FuzzedSecret.ofAgent, unless: [line]), "an answer has a secret")
            let mayHaveToken = !isConfined && methods.contains(TokenGet.name)
            try require(
                mayHaveToken || !contains(answer, FuzzedSecret.ofClients, unless: [line]), "an answer has a token")
            let isHidden = !isConfined || !contains(answer, [FuzzedAgent.hidden], unless: [line])
            try require(isHidden, "an answer has a session that is not listed")
        }
    }

    /// Each line is one value, and each request with an id has one answer, with this id.
    private static func checkForm(
        _ answers: [[UInt8]], of requests: [Result<RPCRequest, RPCProblem>], isBatch: Bool
    ) throws(Violation) {
        let ids = requests.compactMap { request in
            switch request {
            case .success(let request): request.id
            case .failure(let problem): problem.id
            }
        }
        try require(answers.count == (ids.isEmpty ? 0 : 1), "\(answers.count) lines answer \(ids.count) requests")
        guard let line = answers.first else { return }
        guard let json = try? JSON(parsing: line), !line.contains(UInt8(ascii: "\n")) else {
            throw Violation("an answer is not one line of JSON")
        }
        let parts = isBatch ? json.arrayValue ?? [] : [json]
        let found = parts.map { $0["id"]?.serialized() ?? [] }
        try require(
            found.sorted { $0.lexicographicallyPrecedes($1) }
                == ids.map { $0.json.serialized() }.sorted { $0.lexicographicallyPrecedes($1) },
            "the answers have different ids than the requests")
        for part in parts {
            try require(part["jsonrpc"] == "2.0", "an answer has no version")
            try require((part["result"] == nil) != (part["error"] == nil), "an answer needs a result or an error")
            guard let error = part["error"] else { continue }
            try require(error["code"]?.integerValue != nil, "an error has no code")
            try require(error["message"]?.stringValue != nil, "an error has no text")
        }
    }

    /// - Parameter lines: a client that sends a text may get it back.
    private static func contains(_ text: [UInt8], _ secrets: [String], unless lines: [[UInt8]]) -> Bool {
        secrets.contains { secret in
            let secret = Array(secret.utf8)
            return contains(text, secret) && !lines.contains { contains($0, secret) || contains(decoded($0), secret) }
        }
    }

    /// Up to a zero, which no answer has.
    private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        (text + [0]).withUnsafeBytes { text in
            (part + [0]).withUnsafeBytes { part in
                guard let start = text.bindMemory(to: CChar.self).baseAddress,
                    let sought = part.bindMemory(to: CChar.self).baseAddress
                else { return false }
                return strstr(start, sought) != nil
            }
        }
    }

    /// The line without escapes that are not needed; empty if it is not JSON.
    private static func decoded(_ line: [UInt8]) -> [UInt8] { (try? JSON(parsing: line))?.serialized() ?? [] }
}

extension FuzzedSecret {
    fileprivate static let all = ofClients + ofAgent
}

extension RPCIncoming {
    fileprivate var isBatch: Bool { if case .batch = self { true } else { false } }
}
