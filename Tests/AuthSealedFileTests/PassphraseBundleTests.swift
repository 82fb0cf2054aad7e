import AuthModel
import AuthSealedFile
import Crypto
import Testing

@Suite("Bundles sealed with a passphrase")
struct PassphraseBundleTests {
    private let bundles = PassphraseBundles(cost: SealedPlace.cheap)
    private let content = Secret("sessions")
    private let right = Secret("correct horse battery")

    private func refusal(_ bundle: [UInt8], _ passphrase: Secret) async -> SealRefusal? {
        do throws(SealRefusal) {
            _ = try await bundles.open(bundle, with: passphrase)
            return nil
        } catch {
            return error
        }
    }

    @Test("open with it only, and each one is different")
    func opens() async throws {
        let bundle = try await bundles.close(content, with: right)
        #expect(try await bundles.open(bundle, with: right) == content)
        #expect(await refusal(bundle, Secret("correct horse batterz")) == .wrongPassphrase)
        #expect(try await bundles.close(content, with: right) != bundle)
    }

    /// The second one has 13 bytes.
    @Test("require a passphrase of at least 12 characters", arguments: ["elevenchars", "sieben-öäü", ""])
    func tooShort(passphrase: String) async throws {
        await #expect(throws: SealRefusal.tooShort) { _ = try await bundles.close(content, with: Secret(passphrase)) }
        let bundle = try await bundles.close(content, with: Secret("twelve chars"))
        #expect(try await bundles.open(bundle, with: Secret("twelve chars")) == content)
    }

    @Test("are reported as damaged if they are, or if a key has sealed them")
    func damaged() async throws {
        var bundle = try await bundles.close(content, with: right)
        bundle[40] ^= 1
        #expect(await refusal(bundle, right) == .damaged("it is damaged: its content has changed"))
        #expect(await refusal(Array(bundle.prefix(20)), right) == .damaged("it is cut off: 20 bytes are left"))
        let place = try SealedPlace()
        try await place.start { try await $0.save(sample()) }
        let file = try Array(place.bytes("work.session"))
        #expect(await refusal(file, right) == .damaged("it is not sealed with a passphrase"))
    }

    /// Our bundles need 128 MiB; a header may require at most 256 MiB.
    @Test("a header that requires more than 256 MiB is refused before memory is allocated", arguments: [19, 20])
    func tooCostly(logarithm: Int) async throws {
        var bundle = try await bundles.close(content, with: right)
        // The label follows a fixed header of 25 bytes: "scrypt 10 …".
        bundle.replaceSubrange(32..<34, with: Array("\(logarithm)".utf8))
        bundle = Array(bundle.dropLast(8))
        bundle += Array(SHA256.hash(data: bundle).prefix(8))
        let taken = 1 << (logarithm - 10)
        #expect(
            await refusal(bundle, right)
                == .damaged("checking its passphrase takes \(taken) MiB, and at most 256 MiB is allowed"))
    }

    @Test("while one key is derived, others are refused as busy, and are accepted afterwards")
    func oneAtATime() async throws {
        let turn = DerivationPermit()
        let bundles = PassphraseBundles(cost: SealedPlace.cheap, turn: turn)
        let bundle = try await bundles.close(content, with: right)
        #expect(turn.tryAcquire())
        await #expect(throws: SealRefusal.busy) { _ = try await bundles.open(bundle, with: right) }
        await #expect(throws: SealRefusal.busy) { _ = try await bundles.close(content, with: right) }
        turn.release()
        #expect(try await bundles.open(bundle, with: right) == content)
        // A refusal releases the permit too.
        await #expect(throws: SealRefusal.wrongPassphrase) {
            _ = try await bundles.open(bundle, with: Secret("correct horse batterz"))
        }
        #expect(turn.tryAcquire())
    }
}
