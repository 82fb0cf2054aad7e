/// When a session's provider was called, and how many of these calls users requested.
struct CallLog {
    private(set) var most = 0
    private var sent: [Duration] = []
    private var requests: [Duration] = []
    private var shortest: Duration?

    /// A user requested a renewal, or signed in: each may cause one more call.
    mutating func requested(at now: Duration) {
        requests.append(now)
    }

    /// The calls of the last hour beyond those that users requested.
    mutating func send(at now: Duration) -> Int {
        sent.append(now)
        let hourAgo = now - .seconds(3600)
        sent.removeFirst(sent.prefix { $0 < hourAgo }.count)
        requests.removeFirst(requests.prefix { $0 < hourAgo }.count)
        most = max(most, sent.count - requests.count)
        return sent.count - requests.count
    }

    /// The shortest token life that the provider has stated.
    func shortestLife(else usual: Duration?) -> Duration? {
        guard let shortest else { return usual }
        return min(shortest, usual ?? shortest)
    }

    mutating func record(life: Duration?) {
        guard let life else { return }
        shortest = min(shortest ?? life, life)
    }
}
