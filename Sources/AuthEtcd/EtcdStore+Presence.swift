import AuthModel
import AuthWire

/// Shows the others that this host is connected, and with which authd. It is for users only, so a failure is not one of
/// the store.
extension EtcdStore {
    /// The value of a key of a holder: this host.
    var holderMark: [UInt8] { Array((ownID ?? "").utf8) }

    /// Does what is due.
    func showPresence() async {
        guard member != nil, let ownID else { return presence.left() }
        var step = presence.next(at: clock.now().boot)
        while let due = step {
            do throws(ClusterFault) {
                step = try await carryOut(due, of: ownID)
            } catch {
                return
            }
        }
    }

    private func carryOut(
        _ step: HostPresence.Step, of host: String
    ) async throws(ClusterFault) -> HostPresence.Step? {
        switch step {
        case .connect:
            let granted = try await client.call(
                .grantLease(seconds: max(1, configuration.presence.lease.components.seconds)))
            guard let lease = granted.leaseID() else { throw .invalid(reason: "a lease without a number") }
            _ = try await client.call(
                .transaction(
                    [], then: [report(of: host), .put([], to: places.connection(host), lease: lease)],
                    otherwiseReading: []))
            presence.reported(under: lease, at: clock.now().boot)
            return nil
        case .keepAlive(let lease):
            let isAlive = try await client.call(.keepAlive(lease)).leaseSeconds() > 0
            return presence.answered(isAlive: isAlive, at: clock.now().boot)
        case .report:
            _ = try await client.call(.transaction([], then: [report(of: host)], otherwiseReading: []))
            presence.reported(at: clock.now().boot)
            return nil
        }
    }

    private func report(of host: String) -> EtcdRequest.Operation {
        let report = HostReport(version: configuration.version, writtenAt: clock.now().wall)
        return .put(report.bytes, to: places.report(host))
    }

    /// After the host was removed. It may report once more, because it does not know yet: that names no member then.
    func removePresence(of host: String) async {
        _ = try? await client.call(
            .transaction(
                [], then: [.delete(places.report(host)), .delete(places.connection(host))], otherwiseReading: []))
    }
}
