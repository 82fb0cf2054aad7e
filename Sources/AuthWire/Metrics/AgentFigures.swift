/// What `authc stats` and the local HTTP endpoint show: the agent's counters, its sessions, its store and the writes that wait.
/// `nil` is what the agent does not know while its store cannot be read.
package struct AgentFigures: Sendable {
    package let stats: AgentStats
    package let store: StoreInfo
    package let sessions: [SessionStatus]?
    package let writes: [OutboxItem]?

    package init(stats: AgentStats, store: StoreInfo, sessions: [SessionStatus]?, writes: [OutboxItem]?) {
        self.stats = stats
        self.store = store
        self.sessions = sessions
        self.writes = writes
    }

    package func metrics(_ format: MetricsText.Format) -> String {
        var text = MetricsText(format)
        addAgent(to: &text)
        addTokenRequests(to: &text)
        if let sessions { add(sessions, to: &text) }
        text.family("authd_store_ready", .gauge, "1 if sessions can be stored, else 0.")
        text.sample("authd_store_ready", store.state == .ready ? "1" : "0", [("kind", store.kind.rawValue)])
        if let writes { add(writes, to: &text) }
        return text.text
    }

    private func addAgent(to text: inout MetricsText) {
        text.single("authd_requests", .counter, "Requests of clients.", "\(stats.requests)")
        text.single("authd_renewals", .counter, "Tokens that were renewed.", "\(stats.renewals)")
        text.single("authd_connections", .gauge, "Open connections of clients.", "\(stats.connections)")
        text.single("authd_uptime_seconds", .gauge, "Time since the start.", Self.seconds(stats.uptime))
        for (name, kind, help) in Self.counters {
            guard let value = stats.counters[name]?.integerValue else { continue }
            text.single("authd_\(name)", kind, help, "\(value)")
        }
    }

    private static let counters: [(name: String, kind: MetricsText.Kind, help: String)] = [
        ("waiting_requests", .gauge, "Requests of clients that wait for something."),
        ("refused_connections", .counter, "Connections that were refused, or closed because of their behaviour."),
        ("unsent_bytes", .gauge, "Bytes of responses that clients have not received yet."),
        ("unread_bytes", .gauge, "Bytes of lines that are incomplete or not parsed yet."),
        ("body_sockets", .counter, "Sockets that clients were given for the bodies of calls."),
        ("open_body_sockets", .gauge, "Sockets for the bodies of calls that are open now."),
    ]

    private func addTokenRequests(to text: inout MetricsText) {
        let failures = "authd_token_request_failures"
        text.family(failures, .counter, "Requests for tokens to a provider that failed, by cause.")
        for counts in stats.tokenRequests {
            for (cause, count) in counts.failed.sorted(by: { $0.key < $1.key }) {
                text.sample(failures + "_total", "\(count)", [("provider", counts.provider), ("cause", cause)])
            }
        }
        let seconds = "authd_token_request_seconds"
        text.family(seconds, .histogram, "How long requests for tokens took.")
        for counts in stats.tokenRequests {
            let provider = (name: "provider", value: counts.provider)
            let buckets = counts.within.compactMap { bound, count in Int(bound).map { ($0, count) } }
            for (bound, count) in buckets.sorted(by: { $0.0 < $1.0 }) {
                text.sample(seconds + "_bucket", "\(count)", [provider, ("le", "\(Double(bound) / 1000)")])
            }
            text.sample(seconds + "_bucket", "\(counts.total)", [provider, ("le", "+Inf")])
            text.sample(seconds + "_sum", Self.seconds(counts.duration), [provider])
            text.sample(seconds + "_count", "\(counts.total)", [provider])
        }
    }

    private func add(_ sessions: [SessionStatus], to text: inout MetricsText) {
        text.family("authd_session_active", .gauge, "1 if the session has a valid token, else 0.")
        for session in sessions {
            text.sample("authd_session_active", session.state == .active ? "1" : "0", labels(session))
        }
        text.family("authd_session_sign_in_required", .gauge, "1 if its user has to sign in again, else 0.")
        for session in sessions {
            let isRequired = session.state == .signInRequired
            text.sample("authd_session_sign_in_required", isRequired ? "1" : "0", labels(session))
        }
        let dates: [(name: String, help: String, date: (SessionStatus) -> Double?)] = [
            ("authd_token_issued_timestamp_seconds", "When the token was issued.", \.issuedAt),
            ("authd_token_end_timestamp_seconds", "When the token ends.", \.expiresAt),
            ("authd_session_end_timestamp_seconds", "When the refresh token ends, if that is known.", \.endsAt),
        ]
        for (name, help, date) in dates {
            text.family(name, .gauge, help)
            for session in sessions {
                if let date = date(session) { text.sample(name, "\(date)", labels(session)) }
            }
        }
    }

    private func add(_ writes: [OutboxItem], to text: inout MetricsText) {
        text.family("authd_outbox_writes", .gauge, "Writes that wait for their provider, by state.")
        for state in OutboxItem.State.allCases {
            text.sample("authd_outbox_writes", "\(writes.count { $0.state == state })", [("state", state.rawValue)])
        }
    }

    private static func seconds(_ span: Duration) -> String { "\(Double(span.wholeMilliseconds) / 1000)" }

    private func labels(_ session: SessionStatus) -> [(name: String, value: String)] {
        [("session", session.session.text), ("provider", session.provider)]
    }
}
