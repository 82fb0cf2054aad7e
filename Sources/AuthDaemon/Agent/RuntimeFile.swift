import Glibc

/// A small file beside the socket that others read without asking the agent. It holds no secret.
package struct RuntimeFile: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Replaces the file by rename, so that a reader sees one text or the other.
    package func write(_ text: String) throws(SystemFailure) {
        let fresh = path + ".new"
        let descriptor = unsafe open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure("make \(fresh)") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemFailure("write \(fresh)")
        }
        guard unsafe rename(fresh, path) == 0 else { throw SystemFailure("replace \(path)") }
    }

    package func remove() {
        unsafe unlink(path)
    }
}
