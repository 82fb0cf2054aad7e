internal import AuthConcurrency
package import AuthFiles
package import AuthModel
internal import AuthWire

/// One thread for all files: what was saved later is written later.
private let disk = BlockingThread()

extension StateFile: StateStore {
    package func write(_ value: Value) throws(StoreError) { try StoreError.wrapping { try replace(value) } }

    package func save(_ newest: @escaping @Sendable () -> Value) async throws(StoreError) {
        try await disk.complete { Result { () throws(StoreError) in try write(newest()) } }.get()
    }
}

extension StateFile<[SessionName: RenewalPause]> {
    /// Waits after failed renewals, beside the socket: they outlive the agent, but not the login.
    package static func pauses(beside socket: String) -> Self {
        Self(
            AtomicFile(path: SocketPath.neighbour("pauses", of: socket)), isDurable: false,
            encode: { $0.isEmpty ? [] : RenewalPause.encode($0) }, decode: RenewalPause.decode)
    }
}

extension StateFile<[SessionName: SignInID]> {
    /// Sign-outs that the store has not carried out, so that the next start does not bring these sessions back. One line
    /// each, with name and sign-in.
    /// - Parameter note: called after each step of a replacement.
    package static func signOuts(
        in folder: String, note: @escaping @Sendable (AtomicFile.Step) -> Void = { _ in }
    ) -> Self {
        Self(
            AtomicFile(path: folder + "/signed-out", note: note),
            encode: { Array($0.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined().utf8) },
            decode: { bytes in
                var signOuts: [SessionName: SignInID] = [:]
                for words in lines(of: bytes) where words.count == 2 {
                    guard let name = try? SessionName(String(words[0])), let signIn = SignInID(written: words[1]) else {
                        continue
                    }
                    signOuts[name] = signIn
                }
                return signOuts
            })
    }
}

extension StateFile<[UnfinishedMove]> {
    /// The copies that moves of sessions still have to remove. For each move: a line with the two stores and the phase (omitted for
    /// `removing`), then a line for each copy with name, sign-in and number.
    package static func unfinishedMoves(in folder: String) -> Self {
        Self(
            AtomicFile(path: folder + "/moved"),
            encode: { moves in
                var text = ""
                for move in moves {
                    let phase = move.phase == .removing ? "" : " \(move.phase.rawValue)"
                    text += "\(move.from.rawValue) \(move.to.rawValue)\(phase)\n"
                    for copy in move.copies { text += "\(copy.session) \(copy.signIn) \(copy.number)\n" }
                }
                return Array(text.utf8)
            },
            decode: { bytes in
                var moves: [UnfinishedMove] = []
                var isKnown = false
                for words in lines(of: bytes) {
                    if let copy = UnfinishedMove.Copy(words) {
                        if isKnown { moves[moves.count - 1].copies.append(copy) }
                    } else if words.count > 1, words[..<2].allSatisfy({ StoreKind(rawValue: String($0)) != nil }) {
                        // One of a later authd is skipped with its copies.
                        let move = UnfinishedMove(words)
                        isKnown = move != nil
                        if let move { moves.append(move) }
                    }
                }
                return moves
            })
    }
}

extension UnfinishedMove {
    fileprivate init?(_ words: [Substring]) {
        guard words.count == 2 || words.count == 3, let from = StoreKind(rawValue: String(words[0])),
            let to = StoreKind(rawValue: String(words[1])),
            let phase = words.count == 2 ? .removing : Phase(rawValue: String(words[2]))
        else { return nil }
        self.init(from: from, to: to, phase: phase, copies: [])
    }
}

extension StateFile<StoreKind?> {
    /// The store that `authc store migrate` has moved sessions to. The next start looks there, unless the command line or the
    /// settings choose another one.
    package static func selectedStore(in folder: String) -> Self {
        Self(
            AtomicFile(path: folder + "/store"), encode: { $0.map { Array("\($0.rawValue)\n".utf8) } ?? [] },
            decode: { StoreKind(rawValue: String(decoding: $0.prefix { $0 > 0x20 }, as: UTF8.self)) })
    }
}

private func lines(of bytes: [UInt8]) -> [[Substring]] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
}

extension UnfinishedMove.Copy {
    fileprivate init?(_ words: [Substring]) {
        guard words.count == 3, let name = try? SessionName(String(words[0])), let signIn = SignInID(written: words[1]),
            let number = UInt32(words[2])
        else { return nil }
        // An older authd, which wrote dates, had one number for both parts of a record.
        let isOlder = Double(words[1]) != nil
        self.init(session: name, signIn: signIn, number: UInt64(number) * (isOlder ? 2 : 1))
    }
}

extension SignInID {
    /// An older authd wrote the date of the sign-in, in Unix seconds.
    fileprivate init?(written text: Substring) {
        if let date = Double(text) {
            guard date.isFinite else { return nil }
            self.init(signedInAt: WallTime(unixSeconds: date))
        } else {
            self.init(String(text))
        }
    }
}
