import AuthCore
import AuthWire

/// The copies that a move of sessions has still to remove: where from and where to in the first line, then name, date of the
/// sign-in and revision of one a line. It holds no secret.
struct UnfinishedMoveFile: UnfinishedMoveKeeper {
    /// Far above what a thousand sessions need.
    private static let mostBytes = 1 << 20

    private let folder: String
    private var file: RuntimeFile { RuntimeFile(path: folder + "/moved") }

    init(in folder: String) {
        self.folder = folder
    }

    func load() -> UnfinishedMove? {
        let lines = String(decoding: file.read(atMost: Self.mostBytes) ?? [], as: UTF8.self).split(separator: "\n")
        guard let kinds = lines.first?.split(separator: " ").map({ StoreKind(rawValue: String($0)) }), kinds.count == 2,
            let from = kinds[0], let to = kinds[1]
        else { return nil }
        let copies = lines.dropFirst().compactMap { line -> UnfinishedMove.Copy? in
            let words = line.split(separator: " ")
            guard words.count == 3, let name = try? SessionName(String(words[0])), let date = Double(words[1]),
                let revision = UInt64(words[2])
            else { return nil }
            return UnfinishedMove.Copy(session: name, signedIn: date, revision: revision)
        }
        return UnfinishedMove(from: from, to: to, copies: copies)
    }

    func keep(_ move: UnfinishedMove?) throws(StoreError) {
        guard let move else { return file.remove() }
        let copies = move.copies.map { "\($0.session) \($0.signedIn) \($0.revision)\n" }
        do throws(SystemFailure) {
            try StateFolder.make(folder)
            try file.write("\(move.from.rawValue) \(move.to.rawValue)\n" + copies.joined(), durably: true)
        } catch {
            throw .failed(reason: "\(error)")
        }
    }
}
