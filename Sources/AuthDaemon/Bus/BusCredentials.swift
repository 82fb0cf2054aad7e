import AuthModel
import AuthWire
import Glibc
import Logging

/// The process behind a connection of the message bus, as the bus reports it (D-Bus specification, `GetConnectionCredentials`).
struct BusCredentials {
    private(set) var userID: UInt32 = .max
    /// 0: unknown.
    private(set) var processID: Int32 = 0
    /// A pidfd, which the reader owns; `nil` before version 0.42 of the specification.
    private(set) var process: CInt?
    /// The label of the security module.
    private(set) var label: String?

    init(_ reply: BusMessage) {
        reply.readTable { key, signature in
            switch (key, signature) {
            case ("UnixUserID", "u"): userID = reply.readUInt32() ?? .max
            case ("ProcessID", "u"): processID = reply.readUInt32().flatMap { Int32(exactly: $0) } ?? 0
            case ("ProcessFD", "h"): process = reply.readDescriptor()
            case ("LinuxSecurityLabel", "ay"): label = reply.readText()
            default: return reply.skip(signature)
            }
            return true
        }
    }
}

extension ConnectionRegistry {
    /// The caller behind a connection of the bus.
    /// - Parameter sandbox: of the bus itself: numbers that it reports are not ours then.
    /// - Throws: why it is refused.
    func caller(_ sender: BusCredentials, busIn sandbox: ConfinedClient?) throws(AgentError) -> Caller {
        let peer = PeerCredentials(processID: sender.processID, userID: sender.userID)
        func confined(_ client: ConfinedClient) -> Caller {
            var confinement = confinement
            confinement.client = client
            return Caller(
                peer, from: .dbus, process: nil, reference: .started(ProcText.startTime(of: peer.processID)),
                confinement: confinement, changes: changes, busLabel: sender.label)
        }
        let refusal = policy.now.refusal(of: peer)
        if let unused = sender.process, refusal != nil || sandbox != nil { close(unused) }
        if let refusal { throw refusal }
        if let sandbox { return confined(sandbox) }
        do throws(ConfinedClient) {
            let process = try processes.process(of: peer, onBusWith: sender.label, descriptor: sender.process)
            return Caller(
                peer, from: .dbus, process: process, confinement: nil, changes: changes, busLabel: sender.label)
        } catch {
            logger.debug("\(error.text): its access is limited.", metadata: ["peer_pid": "\(peer.processID)"])
            return confined(error)
        }
    }
}
