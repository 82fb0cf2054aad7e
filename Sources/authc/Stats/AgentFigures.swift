import AuthWire

/// What `authc stats` shows: the agent's counters, its sessions, its store and the writes that wait.
struct AgentFigures {
    let stats: AgentStats
    let sessions: [SessionStatus]
    let store: StoreInfo
    let writes: [OutboxItem]

    func metrics(_ format: MetricsText.Format) -> String {
        var text = MetricsText(format)
        addAgent(to: &text)
        addTokenRequests(to: &text)
        addSessions(to: &text)
        addStore(to: &text)
        return text.text
    }

    private func addAgent(to text: inout MetricsText) {
        text.single("authd_requests", .counter, "Requests of clients.", "\(stats.requests)")
        text.single("authd_renewals", .counter, "Tokens that were renewed.", "\(stats.renewals)")
        text.single("authd_connections", .gauge, "Open connections of clients.", "\(stats.connections)")
        text.single("authd_uptime_seconds", .gauge, "Time since the start.", Self.seconds(stats.uptime))
        for (name, value) in stats.counters {
            guard let value = value.integerValue else { continue }
            text.single("authd_\(name)", .gauge, "See agent.stats in authd's protocol.", "\(value)")
        }
    }

    private func addTokenRequests(to text: inout MetricsText) {
        let name = "authd_token_requests"
        text.family(name, .counter, "Requests for tokens to a provider, by outcome.")
        for counts in stats.tokenRequests {
            let provider = (name: "provider", value: counts.provider)
            text.sample(name + "_total", "\(counts.succeeded)", [provider, ("outcome", "success")])
            for (cause, count) in counts.failed.sorted(by: { $0.key < $1.key }) {
                text.sample(name + "_total", "\(count)", [provider, ("outcome", cause)])
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
            text.sample(seconds + "_sum", Self.seconds(counts.took), [provider])
            text.sample(seconds + "_count", "\(counts.total)", [provider])
        }
    }

    private func addSessions(to text: inout MetricsText) {
        text.family("authd_session_active", .gauge, "1 if the session has a valid token, else 0.")
        for session in sessions {
            text.sample("authd_session_active", session.state == .active ? "1" : "0", labels(session))
        }
        text.family("authd_session_sign_in_required", .gauge, "1 if its user has to sign in again, else 0.")
        for session in sessions {
            let isRequired = session.state == .signInRequired
            text.sample("authd_session_sign_in_required", isRequired ? "1" : "0", labels(session))
        }
        addDates("authd_token_issued_timestamp_seconds", "When the token was issued.", \.issuedAt, to: &text)
        addDates("authd_token_end_timestamp_seconds", "When the token ends.", \.expiresAt, to: &text)
        addDates(
            "authd_session_end_timestamp_seconds", "When the refresh token ends, if the provider says so.", \.endsAt,
            to: &text)
    }

    private func addDates(
        _ name: String, _ help: String, _ date: (SessionStatus) -> Double?, to text: inout MetricsText
    ) {
        text.family(name, .gauge, help)
        for session in sessions {
            if let date = date(session) { text.sample(name, "\(date)", labels(session)) }
        }
    }

    private func addStore(to text: inout MetricsText) {
        text.family("authd_store_ready", .gauge, "1 if sessions can be stored, else 0.")
        text.sample("authd_store_ready", store.state == .ready ? "1" : "0", [("kind", store.kind.rawValue)])
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
