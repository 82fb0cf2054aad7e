import AuthFiles
package import AuthModel
import AuthWire
import Glibc

/// Reads the key of sealed files (authd.toml(5), `sealed_key`).
package enum KeyFile {
    /// systemd's credential (systemd.exec(5), LoadCredentialEncrypted=).
    package static let credential = "authd-key"
    package static let etcdCredential = "authd-etcd-password"
    /// Far above any key.
    private static let maxBytes = 1 << 16

    /// Without a setting, a credential takes precedence over a passphrase.
    package static func source(_ setting: SealedKey?, environment: (String) -> String?) -> SealingSource {
        let place = environment("CREDENTIALS_DIRECTORY").map { $0 + "/" + credential }
        switch setting {
        case .passphrase: return .passphrase
        case .file(let path):
            return .given(name: path, read: { () throws(StoreError) in try read(path) })
        case nil where place.map { unsafe access($0, F_OK) != 0 } ?? true: return .passphrase
        case .credential, nil:
            return .given(
                name: "the credential \(credential)",
                read: { () throws(StoreError) in
                    guard let place else {
                        throw .failed(
                            reason: "there is no credential \(credential): systemd passes it to a unit with "
                                + "LoadCredentialEncrypted=\(credential):FILE")
                    }
                    // The folder belongs to systemd, and its files may belong to root.
                    return try bytes(of: place, isOurs: false)
                })
        }
    }

    /// The password of a user of etcd: in a file, or in systemd's credential. A line feed at its end does not belong to it.
    package static func password(
        _ path: String?, environment: (String) -> String?
    ) -> @Sendable () throws(StoreError) -> Secret {
        let place = environment("CREDENTIALS_DIRECTORY").map { $0 + "/" + etcdCredential }
        return { () throws(StoreError) in
            let secret: Secret
            if let path {
                secret = try bytes(of: path, kind: "the password", isOurs: true)
            } else if let place {
                secret = try bytes(of: place, kind: "the password", isOurs: false)
            } else {
                throw .failed(
                    reason: "there is no credential \(etcdCredential) and no etcd.password_file in authd.toml(5)")
            }
            let text = secret.revealBytes()
            return Secret(bytes: text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...])
        }
    }

    /// A file that only this user can read or write.
    package static func read(_ path: String) throws(StoreError) -> Secret {
        try bytes(of: path, isOurs: true)
    }

    /// A public file that belongs to a private one.
    package static func readPublic(_ path: String) throws(StoreError) -> String {
        try bytes(of: path, kind: "the file", isOurs: false, follows: true).reveal()
    }

    private static func bytes(
        of path: String, kind: String = "the key", isOurs: Bool, follows: Bool = false
    ) throws(StoreError) -> Secret {
        let descriptor = unsafe open(path, O_RDONLY | (follows ? 0 : O_NOFOLLOW) | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure("open \(kind) \(path)") }
        defer { close(descriptor) }
        guard let found = FileStatus(of: descriptor) else { throw failure("read the status of \(kind) \(path)") }
        switch found.privacyProblem(for: geteuid()) {
        case .notAFile:
            throw .failed(reason: "\(kind) \(path) is not a file")
        case .otherOwner(let owner) where isOurs:
            throw .failed(reason: "\(kind) \(path) belongs to user \(owner), not to \(geteuid())")
        case .accessibleToOthers where isOurs:
            throw .failed(
                reason: "\(kind) \(path) is accessible to others: run `chmod 600 \(ShellWord.quoted(path))`")
        case .otherOwner, .accessibleToOthers, nil:
            break
        }
        var bytes = [UInt8](repeating: 0, count: maxBytes)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw failure("read \(kind) \(path)") }
        return Secret(bytes: bytes[..<count])
    }

    private static func failure(_ what: String) -> StoreError {
        .failed(reason: "\(SystemFailure(what))")
    }
}
