import AuthModel
import Testing

@testable import AuthSealedFile

@Suite("The bytes of a sealed file")
struct SealedBytesTests {
    private let key: SealingKey
    private let file: [UInt8]
    private let content = Secret("an access token and its kin")

    init() throws {
        key = try SealingKey.random()
        file = try SealedBytes.seal(content, name: "work.session", label: "shop", generation: 7, key: key)
    }

    private func refusal(of bytes: [UInt8], name: String = "work.session") -> SealedBytes.Refusal? {
        do throws(SealedBytes.Refusal) {
            _ = try SealedBytes.open(bytes, name: name, keys: [key])
            return nil
        } catch {
            return error
        }
    }

    @Test("open with their key and name, and show their generation and label without it")
    func opens() throws {
        let opened = try SealedBytes.open(file, name: "work.session", keys: [try .random(), key])
        #expect(opened.content == content)
        #expect(opened.header == SealedBytes.Header(keyID: key.id, generation: 7, label: "shop"))
        let header = try SealedBytes.header(of: file)
        #expect(header == opened.header)
        #expect(!file.contains(content.revealBytes()))
    }

    @Test("are refused as damaged for each changed bit")
    func flippedBits() {
        for index in file.indices {
            for bit in 0..<8 {
                var bytes = file
                bytes[index] ^= 1 << bit
                guard case .damaged(let reason) = refusal(of: bytes), !reason.isEmpty else {
                    Issue.record("bit \(bit) of byte \(index) was not noticed")
                    return
                }
            }
        }
    }

    @Test("are refused at every other length")
    func truncation() {
        for length in 0..<file.count {
            guard case .damaged = refusal(of: Array(file[..<length])) else {
                Issue.record("\(length) bytes of \(file.count) were taken")
                return
            }
        }
        #expect(refusal(of: file + [0]) != nil)
    }

    @Test("are refused under another name, and with another header even if the checksum is right")
    func bound() throws {
        #expect(refusal(of: file, name: "home.session") != nil)
        let later = try SealedBytes.seal(content, name: "work.session", label: "shop", generation: 8, key: key)
        let other = try SealedBytes.seal(content, name: "work.session", label: "shoq", generation: 7, key: key)
        // The header of one and the content of the other, with a valid checksum.
        for header in [later, other] {
            let length = header.count - 8
            let start = 8 + 8 + 8 + 1 + 4
            let forged = Array(header[..<start]) + Array(file[start..<length])
            let summed = SealedBytes.summed(forged)
            #expect(refusal(of: summed) == .damaged("it was changed, or moved from another place"))
        }
    }

    @Test("of another key are recognised by the IDs of both keys")
    func otherKey() throws {
        let other = try SealingKey.random()
        let sealed = try SealedBytes.seal(content, name: "work.session", label: "", generation: 1, key: other)
        guard case .otherKey(let reason) = refusal(of: sealed) else {
            Issue.record("it was not said that the key is another one")
            return
        }
        #expect(reason.contains(SealedBytes.hex(other.id)) && reason.contains(SealedBytes.hex(key.id)))
    }
}
