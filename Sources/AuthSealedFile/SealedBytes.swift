package import AuthModel
import Crypto
import FoundationEssentials

/// The format of a file: a header, the sealed content (AES-256-GCM, NIST SP 800-38D), and a checksum of both.
///
/// ```
/// "AUTHDSF" 1 | key id 8 | generation 8 | n 1 | label n | nonce 12, ciphertext, tag 16 | sum 8
/// ```
/// Header and file name are bound as associated data: the file does not open under another name or with another header. The
/// checksum (SHA-256, the first 8 bytes) proves nothing; it distinguishes damage from a wrong key.
package enum SealedBytes {
    private static let magic = Array("AUTHDSF\u{1}".utf8)
    private static let fixedLength = magic.count + SealingKey.idLength + 8 + 1
    private static let nonceAndTag = 12 + 16
    private static let sumLength = 8

    package struct Header: Sendable, Equatable {
        package var keyID: [UInt8]
        /// Grows with every write of the store.
        package var generation: UInt64
        /// Unencrypted; up to 255 bytes.
        package var label: String

        var bytes: [UInt8] {
            magic + keyID + (0..<8).reversed().map { UInt8(truncatingIfNeeded: generation >> ($0 * 8)) }
                + [UInt8(label.utf8.count)] + Array(label.utf8)
        }
    }

    package struct Opened: Sendable {
        package let header: Header
        package let content: Secret
    }

    /// Why it does not open. The reason contains nothing of the content.
    package enum Refusal: Error, Equatable {
        case otherKey(String)
        case damaged(String)

        package var reason: String {
            switch self {
            case .otherKey(let reason), .damaged(let reason): reason
            }
        }
    }

    /// The number of the next write. The largest one stays as it is: a member may have written it, and the next write must
    /// still be possible.
    package static func generation(after former: UInt64) -> UInt64 { former == .max ? former : former + 1 }

    package static func seal(
        _ content: Secret, name: String, label: String, generation: UInt64, key: SealingKey
    ) throws(StoreError) -> [UInt8] {
        guard label.utf8.count <= UInt8.max else { throw .failed(reason: "'\(label)' is too long as a name") }
        let header = Header(keyID: key.id, generation: generation, label: label).bytes
        do {
            let box = try AES.GCM.seal(
                content.revealBytes(), using: key.symmetric, authenticating: header + Array(name.utf8))
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            return summed(header + [UInt8](combined))
        } catch {
            throw .failed(reason: "\(name) could not be sealed: \(error)")
        }
    }

    /// The header, which is readable without a key, if the file is intact.
    package static func header(of file: [UInt8]) throws(Refusal) -> Header {
        guard file.count >= fixedLength + nonceAndTag + sumLength else {
            throw .damaged("it is cut off: \(file.count) bytes are left")
        }
        guard file.starts(with: magic.dropLast()) else { throw .damaged("it is not a sealed file") }
        guard file.suffix(sumLength).elementsEqual(sum(file.dropLast(sumLength))) else {
            throw .damaged("it is damaged: its content has changed")
        }
        let version = file[magic.count - 1]
        guard version == magic.last else {
            throw .damaged("it has format \(version), and this authd knows format \(magic.last ?? 0)")
        }
        let generationStart = magic.count + SealingKey.idLength
        let labelLength = Int(file[fixedLength - 1])
        guard file.count >= fixedLength + labelLength + nonceAndTag + sumLength,
            let label = String(validating: file[fixedLength..<(fixedLength + labelLength)], as: UTF8.self)
        else { throw .damaged("its header is invalid") }
        return Header(
            keyID: Array(file[magic.count..<generationStart]),
            generation: file[generationStart..<(generationStart + 8)].reduce(0) { $0 << 8 | UInt64($1) }, label: label)
    }

    package static func open(_ file: [UInt8], name: String, keys: [SealingKey]) throws(Refusal) -> Opened {
        let header = try header(of: file)
        guard let key = keys.first(where: { $0.id == header.keyID }) else {
            let known = keys.map { hex($0.id) }.joined(separator: ", ")
            throw .otherKey("it was sealed with another key (\(hex(header.keyID)), and here is \(known))")
        }
        let start = fixedLength + header.label.utf8.count
        do {
            let box = try AES.GCM.SealedBox(combined: file[start..<(file.count - sumLength)])
            var content = try AES.GCM.open(
                box, using: key.symmetric, authenticating: file[..<start] + Array(name.utf8))
            defer { content.resetBytes(in: content.startIndex..<content.endIndex) }
            return Opened(header: header, content: Secret(bytes: content))
        } catch {
            throw .damaged("it was changed, or moved from another place")
        }
    }

    static func summed(_ bytes: [UInt8]) -> [UInt8] { bytes + sum(bytes) }

    private static func sum(_ bytes: some DataProtocol) -> [UInt8] {
        Array(SHA256.hash(data: bytes).prefix(sumLength))
    }

    package static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
