import AuthConcurrency
import AuthFiles
import AuthModel
import AuthWire

/// The copies that a move of sessions has still to remove: where from and where to in the first line, then name, sign-in
/// and number of one a line. It holds no secret.
struct UnfinishedMoveFile: UnfinishedMoveStore {
    /// Far above what a thousand sessions need.
    private static let maxBytes = 1 << 20

    private let folder: String
    private let disk = BlockingThread()
    private var file: AtomicFile { AtomicFile(path: folder + "/moved") }

    init(in folder: String) {
        self.folder = folder
    }

    func load() async -> UnfinishedMove? { await disk.run { read() } ?? nil }

    func save(_ move: UnfinishedMove?) async throws(StoreError) {
        try await disk.complete { Result { () throws(StoreError) in try write(move) } }.get()
    }

    private func read() -> UnfinishedMove? {
        let lines = String(decoding: (try? file.read(atMost: Self.maxBytes)) ?? [], as: UTF8.self).split(
            separator: "\n")
        guard let kinds = lines.first?.split(separator: " ").map({ StoreKind(rawValue: String($0)) }), kinds.count == 2,
            let from = kinds[0], let to = kinds[1]
        else { return nil }
        let copies = lines.dropFirst().compactMap { line -> UnfinishedMove.Copy? in
            let words = line.split(separator: " ")
            guard words.count == 3, let name = try? SessionName(String(words[0])),
                let signIn = SignInID(written: words[1]), let number = UInt32(words[2])
            else { return nil }
            // An older authd, which wrote dates, had one number for both parts of a record.
            let isOlder = Double(words[1]) != nil
            return UnfinishedMove.Copy(session: name, signIn: signIn, number: UInt64(number) * (isOlder ? 2 : 1))
        }
        return UnfinishedMove(from: from, to: to, copies: copies)
    }

    private func write(_ move: UnfinishedMove?) throws(StoreError) {
        guard let move else { return (try? file.remove(durably: false)) ?? () }
        let copies = move.copies.map { "\($0.session) \($0.signIn) \($0.number)\n" }
        do throws(SystemFailure) {
            try PrivateFolder.make(folder)
            try file.replace(with: Array(("\(move.from.rawValue) \(move.to.rawValue)\n" + copies.joined()).utf8))
        } catch {
            throw .failed(reason: "\(error)")
        }
    }
}
