import AuthFiles
import AuthWire
import Glibc

/// A program's configuration as lines. Lines of others keep their bytes.
struct ConfigurationText {
    private static let longestFile = 1 << 20

    private let file: AtomicFile
    var lines: [String]
    var path: String { file.path }

    /// A missing file has no lines.
    init(path: String) throws(SystemFailure) {
        file = AtomicFile(path: path)
        let bytes = try file.read(atMost: Self.longestFile) ?? []
        guard bytes.count < Self.longestFile, let text = String(validating: bytes, as: UTF8.self) else {
            throw SystemFailure("change \(path), which is too long or not UTF-8", number: EINVAL)
        }
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
    }

    func write() throws(SystemFailure) {
        HelperScript.makeFolders(for: path)
        try file.replace(with: Array(lines.map { $0 + "\n" }.joined().utf8))
    }
}
