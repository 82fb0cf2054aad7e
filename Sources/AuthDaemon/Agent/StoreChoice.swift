import AuthCore
import AuthWire
import Glibc

/// Which store `authc store migrate` has moved sessions to: the next start looks there, unless the command line or the
/// settings say otherwise.
struct StoreChoice: Sendable {
    private let folder: String
    private var file: RuntimeFile { RuntimeFile(path: folder + "/store") }

    init(in folder: String) {
        self.folder = folder
    }

    /// `nil`: sessions were never moved.
    var kind: StoreKind? {
        let descriptor = unsafe open(file.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return StoreKind(rawValue: String(decoding: bytes.prefix(max(0, count)).prefix { $0 > 0x20 }, as: UTF8.self))
    }

    func keep(_ kind: StoreKind) throws(StoreError) {
        do throws(SystemFailure) {
            if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST { throw SystemFailure("make the folder \(folder)") }
            try file.write(kind.rawValue + "\n", durably: true)
        } catch {
            throw .failed(reason: "\(error)")
        }
    }
}
