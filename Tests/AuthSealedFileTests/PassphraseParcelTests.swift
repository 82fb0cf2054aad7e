import AuthCore
import AuthSealedFile
import Testing

@Suite("Parcels that a passphrase seals")
struct PassphraseParcelTests {
    private let parcels = PassphraseParcels(cost: SealedPlace.cheap)
    private let content = Secret("sessions")
    private let right = Secret("correct horse battery")

    private func refusal(_ parcel: [UInt8], _ passphrase: Secret) async -> SealRefusal? {
        do throws(SealRefusal) {
            _ = try await parcels.open(parcel, with: passphrase)
            return nil
        } catch {
            return error
        }
    }

    @Test("open with it and with no other, and are another one each time")
    func opens() async throws {
        let parcel = try await parcels.close(content, with: right)
        #expect(try await parcels.open(parcel, with: right) == content)
        #expect(await refusal(parcel, Secret("correct horse batterz")) == .wrongPassphrase)
        #expect(try await parcels.close(content, with: right) != parcel)
        await #expect(throws: SealRefusal.tooShort) { _ = try await parcels.close(content, with: Secret("short")) }
    }

    @Test("are told to be damaged where they are, and where a key has sealed them")
    func damaged() async throws {
        var parcel = try await parcels.close(content, with: right)
        parcel[40] ^= 1
        #expect(await refusal(parcel, right) == .damaged("it is damaged: it is not what was written"))
        #expect(await refusal(Array(parcel.prefix(20)), right) == .damaged("it is cut off: 20 bytes are left"))
        let place = try SealedPlace()
        try await place.start { try await $0.save(sample()) }
        let file = try Array(place.bytes("work.session"))
        #expect(await refusal(file, right) == .damaged("no passphrase has sealed it"))
    }
}
