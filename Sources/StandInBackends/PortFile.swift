import Glibc

/// The file that tells another program the ports: one complete JSON object.
package struct PortFile: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let path: String

    package init(_ path: String) {
        self.path = path
    }

    /// Writes another file and renames it, so that a reader never sees a part.
    package func write(_ addresses: [String: String]) throws(Failure) {
        let bytes = JSONValue.object(addresses.mapValues { .string($0) }).bytes() + Array("\n".utf8)
        let draft = "\(path).\(getpid())"
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(draft) }
        let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard close(descriptor) == 0, written == bytes.count, unsafe rename(draft, path) == 0 else {
            let failure = failure(path)
            unsafe unlink(draft)
            throw failure
        }
    }

    package func remove() {
        unsafe unlink(path)
    }

    private func failure(_ path: String) -> Failure {
        unsafe Failure(description: "\(path) could not be written: \(String(cString: strerror(errno)))")
    }
}
