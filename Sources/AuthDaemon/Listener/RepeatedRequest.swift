import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Glibc
import NIOCore

/// A plain token request that a connection has made, with the token that answered it. The same line is answered again with a
/// comparison, as long as nothing has changed but the time. A class, so that a request retains one object.
final class RepeatedRequest {
    /// What follows the id, with the line feed.
    private let rest: [UInt8]
    let token: LiveToken
    let decision: PlainDecision
    /// That of the audit log.
    var entry: RepeatedEntry?
    /// ``StateBoard/tokenVersion``, read before the token.
    let tokenVersion: UInt64

    /// `nil`: each request is decided separately, because a rule tests the program.
    init?(
        _ plain: PlainTokenRequest, in line: ByteBuffer, token: LiveToken, _ decision: PlainDecision,
        _ entry: RepeatedEntry?, tokenVersion: UInt64
    ) {
        guard decision.program == nil else { return nil }
        rest = Array(line.readableBytesView.dropFirst(plain.id.upperBound)) + [UInt8(ascii: "\n")]
        self.token = token
        self.decision = decision
        self.entry = entry
        self.tokenVersion = tokenVersion
    }

    /// The place of the id, if `bytes` are this request and nothing else.
    func id(in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        let span = unsafe bytes.bindMemory(to: UInt8.self).span
        guard let id = PlainTokenRequest.id(of: span), bytes.count - id.upperBound == rest.count else { return nil }
        let isSame = unsafe rest.withUnsafeBytes { rest in
            // Both have this length, and a line feed.
            guard let start = bytes.baseAddress, let known = rest.baseAddress else { return false }
            return unsafe memcmp(start + id.upperBound, known, rest.count) == 0
        }
        return isSame ? id : nil
    }
}

extension Connection {
    func answeredAtOnce(_ bytes: UnsafeRawBufferPointer, from sender: PeerCredentials) -> Bool {
        guard let repeated, isBetweenLines, mayTakeLine, !isDeferred, isFromPeer(sender) else { return false }
        return unsafe answer(bytes, like: repeated)
    }

    /// Answers the line of the connection's last plain request, if that is all that was received.
    private func answer(_ bytes: UnsafeRawBufferPointer, like repeated: RepeatedRequest) -> Bool {
        guard let id = unsafe repeated.id(in: bytes), repeated.tokenVersion == registry.board.tokenVersion,
            repeated.decision.generation == caller.generation
        else { return false }
        assert(outgoing.readableBytes == 0, "output of an earlier event was not passed on")
        let now = registry.clock.bootInstant
        guard repeated.token.isGood(minValid: nil, at: now) else { return false }
        repeated.entry = recordPlain(repeated.token, repeated.decision, after: repeated.entry, at: now)
        let response = PlainTokenResponse(
            token: repeated.token, validMilliseconds: repeated.token.validMilliseconds(at: now))
        unsafe withUnsafeTemporaryAllocation(byteCount: response.maxLength(idLength: id.count), alignment: 1) { room in
            // A small one is on the stack, and holds a token.
            defer { if let start = room.baseAddress { unsafe explicit_bzero(start, room.count) } }
            let count = unsafe response.write(id: UnsafeRawBufferPointer(rebasing: bytes[id]), to: room)
            unsafe socket.send(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
        if socket.waiting > 0 { count() }
        return true
    }
}
