import AuthAgent
import AuthConcurrency
package import AuthFiles
package import AuthModel
package import AuthWire
import Glibc

/// Sign-outs that the store has not carried out, one a line, name and sign-in: so that a start does not bring back what a
/// user ended while the keyring was away. It holds no secret.
package struct SignOutFile: SignOutStore {
    /// Far above what a thousand sessions need.
    private static let maxBytes = 1 << 20

    private let folder: String
    private let file: AtomicFile
    private let disk = BlockingThread()

    /// - Parameter note: called after each step that the kernel has taken.
    package init(in folder: String, note: @escaping @Sendable (AtomicFile.Step) -> Void = { _ in }) {
        self.folder = folder
        file = AtomicFile(path: folder + "/signed-out", note: note)
    }

    package func load() -> [SessionName: SignInID] {
        var signOuts: [SessionName: SignInID] = [:]
        for line in String(decoding: (try? file.read(atMost: Self.maxBytes)) ?? [], as: UTF8.self).split(
            separator: "\n")
        {
            let words = line.split(separator: " ")
            guard words.count == 2, let name = try? SessionName(String(words[0])),
                let signIn = SignInID(written: words[1])
            else { continue }
            signOuts[name] = signIn
        }
        return signOuts
    }

    package func keep(_ newest: @escaping @Sendable () -> [SessionName: SignInID]) async throws(StoreError) {
        let result = await disk.run { [self] in Result { () throws(StoreError) in try write(newest()) } }
        guard let result else { throw .failed(reason: "the call was cancelled") }
        try result.get()
    }

    private func write(_ signOuts: [SessionName: SignInID]) throws(StoreError) {
        guard !signOuts.isEmpty else {
            try? file.remove(durably: false)
            // A folder with something in it stays.
            _ = unsafe rmdir(folder)
            return
        }
        let lines = signOuts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }
        do throws(SystemFailure) {
            try PrivateFolder.make(folder)
            try file.replace(with: Array(lines.joined().utf8))
        } catch {
            throw .failed(reason: "\(error)")
        }
    }
}

extension SignInID {
    /// As it is in a file. An older authd wrote the date of the sign-in there, in Unix seconds.
    init?(written text: Substring) {
        if let date = Double(text) {
            guard date.isFinite else { return nil }
            self.init(signedInAt: WallTime(unixSeconds: date))
        } else {
            self.init(String(text))
        }
    }
}
