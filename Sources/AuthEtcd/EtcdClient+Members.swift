import AuthModel
import AuthWire

extension EtcdClient {
    /// Each configured member, and how many members vote; `nil`: unknown.
    func memberStatus() async -> (members: [EtcdMemberInfo], voters: Int?) {
        let answers = await withTaskGroup(of: (Int, Result<EtcdStatus, EtcdAttemptError>).self) { group in
            for (index, endpoint) in endpoints.enumerated() {
                group.addTask { (index, await self.status(at: endpoint)) }
            }
            var answers: [Int: Result<EtcdStatus, EtcdAttemptError>] = [:]
            for await (index, answer) in group { answers[index] = answer }
            return answers
        }
        let answering = endpoints.enumerated().first { (try? answers[$0.offset]?.get()) != nil }?.element
        var known: EtcdMemberList?
        if let answering { known = await list(of: answering) }
        // The first one that answers: the others are compared with it.
        let cluster = endpoints.indices.lazy.compactMap { try? answers[$0]?.get().clusterID }.first
        let newest = answers.values.compactMap { try? $0.get() }.filter { $0.clusterID == cluster }
            .compactMap { $0.index }.max()
        let members = endpoints.enumerated().map { index, endpoint in
            switch answers[index] {
            case .success(let status):
                return EtcdMemberInfo(
                    endpoint, status, name: known?.names[status.memberID], cluster: cluster, newest: newest)
            case .failure(let error): return EtcdMemberInfo(endpoint, error)
            case nil: return EtcdMemberInfo(endpoint: endpoint, state: .notAnswering)
            }
        }
        return (members, known?.voters)
    }

    private func status(at endpoint: String) async -> Result<EtcdStatus, EtcdAttemptError> {
        do throws(EtcdAttemptError) {
            let answer = try await attempt(.status, at: endpoint, within: EtcdLimits.status, token: nil)
            return .success(EtcdStatus(answer))
        } catch {
            return .failure(error)
        }
    }

    /// `nil` if this member does not list them.
    private func list(of endpoint: String) async -> EtcdMemberList? {
        guard let answer = try? await authorized(.members, at: endpoint, within: EtcdLimits.status) else { return nil }
        return try? EtcdMemberList(answer)
    }
}

extension EtcdMemberInfo {
    fileprivate init(_ endpoint: String, _ status: EtcdStatus, name: String?, cluster: String?, newest: Int64?) {
        self.init(endpoint: endpoint, state: status.hasLeader ? .ready : .noLeader)
        if status.clusterID != cluster { state = .otherCluster }
        self.name = name
        version = status.version.isEmpty ? nil : status.version
        isLeader = status.leaderID != nil && status.leaderID == status.memberID
        (term, index) = (status.term.map { Int($0) }, status.index.map { Int($0) })
        (bytes, usedBytes) = (status.bytes.map { Int($0) }, status.usedBytes.map { Int($0) })
        alarms = status.alarms
        switch state {
        case .noLeader: message = "it is not connected to a majority of the members"
        case .otherCluster: message = "it belongs to a different cluster than the members before it"
        default:
            if let newest, let applied = status.appliedIndex ?? status.index { behind = Int(max(0, newest - applied)) }
        }
    }

    fileprivate init(_ endpoint: String, _ error: EtcdAttemptError) {
        switch error {
        case .transport(let error, _):
            self.init(endpoint: endpoint, state: .notAnswering)
            message = error.reason
        case .refused, .fault:
            self.init(endpoint: endpoint, state: .failed)
            message = error.fault.message
        }
    }
}
