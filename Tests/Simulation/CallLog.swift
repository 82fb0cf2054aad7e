/// When a session's provider was called, and how much of that somebody wished for.
struct CallLog {
    private(set) var most = 0
    private var sent: [Duration] = []
    private var wishes: [Duration] = []
    private var shortest: Duration?

    /// A person asked for a renewal, or signed in: each may bring a call of its own.
    mutating func wish(at now: Duration) {
        wishes.append(now)
    }

    /// The calls of the last hour beyond those that somebody wished for.
    mutating func send(at now: Duration) -> Int {
        sent.append(now)
        let hourAgo = now - .seconds(3600)
        sent.removeFirst(sent.prefix { $0 < hourAgo }.count)
        wishes.removeFirst(wishes.prefix { $0 < hourAgo }.count)
        most = max(most, sent.count - wishes.count)
        return sent.count - wishes.count
    }

    /// The shortest life of a token that the provider has told.
    func shortestLife(else usual: Duration?) -> Duration? {
        guard let shortest else { return usual }
        return min(shortest, usual ?? shortest)
    }

    mutating func record(life: Duration?) {
        guard let life else { return }
        shortest = min(shortest ?? life, life)
    }
}
