import AuthCore
package import AuthWire
import Glibc

/// Sign-outs that the store has not carried out, one a line, name and date: so that a start does not bring back what a
/// person ended while the keyring was away. It holds no secret.
package struct SignOutFile: SignOutKeeper {
    /// Far above what a thousand sessions need.
    private static let mostBytes = 1 << 20

    private let folder: String
    private var path: String { folder + "/signed-out" }

    package init(in folder: String) {
        self.folder = folder
    }

    package func load() -> [SessionName: Double] {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return [:] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        var signOuts: [SessionName: Double] = [:]
        for line in String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let name = try? SessionName(String(words[0])), let date = Double(words[1]) else {
                continue
            }
            signOuts[name] = date
        }
        return signOuts
    }

    package func keep(_ signOuts: [SessionName: Double]) {
        let file = RuntimeFile(path: path)
        guard !signOuts.isEmpty else {
            file.remove()
            // A folder with something in it stays.
            _ = unsafe rmdir(folder)
            return
        }
        _ = unsafe mkdir(folder, 0o700)
        let lines = signOuts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }
        // Where it cannot be kept, the person has been told that the store still has the session.
        try? file.write(lines.joined())
    }
}
