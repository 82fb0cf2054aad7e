import AuthConnection
import AuthFiles
import AuthWire
import CLinux
import Glibc

/// The public key of a private key, and the certificate beside it: `KEY.pub` and `KEY-cert.pub` (ssh_config(5),
/// CertificateFile). The private key is never opened.
struct SSHKeyFiles {
    /// Far above any key or certificate.
    private static let longest = 64 << 10
    /// How often the lock is tried, in microseconds: no user notices the pause.
    private static let pause: UInt32 = 50_000

    let key: SSHPublicKey
    let certificatePath: String
    /// Holds the lock.
    private let file: Descriptor

    /// Waits for other programs that get a certificate for this key.
    init(key path: String, until deadline: Deadline) throws(Failure) {
        let publicPath = path + ".pub"
        let number = unsafe open(publicPath, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            let code = errno
            throw .usage(
                "cannot open \(publicPath): \(SystemError.text(code))",
                hint: code == ENOENT ? "make the key: `ssh-keygen -t ed25519 -f \(ShellWord.quoted(path))`" : nil)
        }
        file = Descriptor(number)
        let text = String(
            decoding: try FileText.read(number, named: publicPath, atMost: Self.longest), as: UTF8.self)
        guard let key = SSHPublicKey(text) else { throw .usage("\(publicPath) is not a public key of ssh") }
        self.key = key
        certificatePath = path + "-cert.pub"
        try lock(until: deadline)
    }

    /// Some network file systems have no such lock; then each program gets a certificate.
    private func lock(until deadline: Deadline) throws(Failure) {
        while linux_lock(file.number) != 0, errno == EWOULDBLOCK {
            guard !deadline.hasPassed else {
                throw Failure(
                    status: .temporary, kind: ErrorKind.timeout.rawValue,
                    message: "another program is still getting a certificate for \(certificatePath)",
                    hint: "try again, or set a longer --timeout")
            }
            usleep(Self.pause)
        }
    }

    /// The certificate for this key; `nil` if there is none, or one for another key.
    func certificate() throws(Failure) -> SSHCertificate? {
        let bytes = try Failure.ofFile { () throws(SystemFailure) in
            try AtomicFile(path: certificatePath).read(atMost: Self.longest)
        }
        guard let bytes else { return nil }
        do throws(SSHCertificate.Mistake) {
            return try SSHCertificate(String(decoding: bytes, as: UTF8.self), for: key)
        } catch {
            guard error == .forOtherKey else {
                throw .usage("\(certificatePath) is not a user's SSH certificate, and was not replaced")
            }
            return nil
        }
    }

    func write(_ certificate: SSHCertificate) throws(Failure) {
        try Failure.ofFile { () throws(SystemFailure) in
            try AtomicFile(path: certificatePath).replace(with: Array((certificate.line + "\n").utf8))
        }
    }
}
