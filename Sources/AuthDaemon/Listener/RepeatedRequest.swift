import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Glibc
import NIOCore

/// A plain token request that a connection has made, with the token that answered it. The same line is answered again with a
/// comparison, as long as nothing has changed but the time. A class, so that a request retains one object.
final class RepeatedRequest {
    /// What follows the id.
    private let rest: [UInt8]
    let token: LiveToken
    let decision: PlainDecision
    /// That of the audit log.
    var entry: RepeatedEntry?
    /// ``StateBoard/version``, read before the token.
    let boardVersion: UInt64

    /// `nil`: each request is decided separately, because a rule tests the program.
    init?(
        _ plain: PlainTokenRequest, in line: ByteBuffer, token: LiveToken, _ decision: PlainDecision,
        _ entry: RepeatedEntry?, boardVersion: UInt64
    ) {
        guard decision.program == nil else { return nil }
        rest = Array(line.readableBytesView.dropFirst(plain.id.upperBound))
        self.token = token
        self.decision = decision
        self.entry = entry
        self.boardVersion = boardVersion
    }

    /// The place of the id, if `line` is this request.
    /// - Parameter line: without its line feed.
    func id(in line: UnsafeRawBufferPointer) -> Range<Int>? {
        let span = unsafe line.bindMemory(to: UInt8.self).span
        guard let id = PlainTokenRequest.id(of: span), line.count - id.upperBound == rest.count else { return nil }
        let isSame = unsafe rest.withUnsafeBytes { rest in
            // Both have this length, and are not empty.
            guard let start = line.baseAddress, let known = rest.baseAddress else { return false }
            return unsafe memcmp(start + id.upperBound, known, rest.count) == 0
        }
        return isSame ? id : nil
    }
}

extension Connection {
    /// Answers the line of the connection's last plain request, if that is all that was received.
    func answeredAtOnce(_ bytes: UnsafeRawBufferPointer, from sender: PeerCredentials) -> Bool {
        guard isBetweenLines, mayTakeLine, !isDeferred, unsafe bytes.last == UInt8(ascii: "\n"), isFromPeer(sender),
            let (id, response) = unsafe repeatedResponse(to: UnsafeRawBufferPointer(rebasing: bytes.dropLast()))
        else { return false }
        assert(outgoing.readableBytes == 0, "output of an earlier event was not passed on")
        unsafe withUnsafeTemporaryAllocation(byteCount: response.maxLength(idLength: id.count), alignment: 1) { room in
            // A small one is on the stack, and holds a token.
            defer { if let start = room.baseAddress { unsafe explicit_bzero(start, room.count) } }
            let count = unsafe response.write(id: UnsafeRawBufferPointer(rebasing: bytes[id]), to: room)
            unsafe socket.send(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
        if socket.waiting > 0 { count() }
        return true
    }

    /// Answers one of several lines, if it is the connection's last plain request.
    func answerRepeated(_ line: ByteBuffer) -> Bool {
        unsafe line.withUnsafeReadableBytes { bytes in
            guard let (id, response) = unsafe repeatedResponse(to: bytes) else { return false }
            unsafe write(response, id: UnsafeRawBufferPointer(rebasing: bytes[id]))
            return true
        }
    }

    /// The response to the connection's last plain request, which is recorded as one more of them.
    /// - Returns: `nil` if it is another request, or something has changed but the time.
    private func repeatedResponse(to line: UnsafeRawBufferPointer) -> (id: Range<Int>, PlainTokenResponse)? {
        guard let repeated, let id = unsafe repeated.id(in: line), repeated.boardVersion == registry.board.version,
            repeated.decision.generation == caller.generation
        else { return nil }
        let now = registry.clock.bootInstant
        guard repeated.token.isGood(minValid: nil, at: now) else { return nil }
        repeated.entry = recordPlain(repeated.token, repeated.decision, after: repeated.entry, at: now)
        let valid = repeated.token.validMilliseconds(at: now)
        return (id, PlainTokenResponse(token: repeated.token, validMilliseconds: valid))
    }
}
