import AuthModel
import AuthWire
import Testing

@Suite("The handover from one run to the next")
struct HandedOverSessionCodingTests {
    private static func sessions() throws -> [HandedOverSession] {
        try ["home", "new", "work"].enumerated().map { number, name in
            var record = MachineBench.record(token: "token of \(name)\n", life: .seconds(1000))
            record.session = try SessionName(name)
            return HandedOverSession(
                record: record, isStored: number == 0, mayBeStored: number == 1, isUnsaved: number == 2)
        }
    }

    @Test("comes back whole, none of them too")
    func whole() throws {
        let sessions = try Self.sessions()
        let text = Handover(sessions).encoded(of: .secretService)
        #expect(try Handover.decode(text, of: .secretService) == Handover(sessions))
        let none = Handover([]).encoded(of: .sealedFile)
        #expect(try Handover.decode(none, of: .sealedFile) == Handover())
    }

    @Test("is written at each change as if it were written for the first time")
    func writtenAgain() throws {
        var writer = HandoverEncoder()
        var sessions = try Self.sessions()
        func expectsTheSame() {
            #expect(
                writer.text(of: Handover(sessions), in: .secretService)
                    == Handover(sessions).encoded(of: .secretService))
        }
        expectsTheSame()
        expectsTheSame()
        sessions[0].record.tokens.accessToken = Secret("another")
        expectsTheSame()
        sessions[1].mayBeStored = false
        expectsTheSame()
        sessions[2].isUnsaved = false
        expectsTheSame()
        let former = sessions.removeFirst()
        expectsTheSame()
        sessions.insert(former, at: 0)
        expectsTheSame()
    }

    @Test("is refused when it is of another store, and never quoted")
    func otherStore() throws {
        let text = try Handover(Self.sessions()).encoded(of: .secretService)
        let refusal = #expect(throws: DamagedRecord.self) { try Handover.decode(text, of: .sealedFile) }
        #expect(refusal?.reason == "it comes from a different store than sealed-file")
    }

    @Test("is refused when any of its bytes is missing, and by a version that does not know it")
    func damaged() throws {
        let bytes = try Handover(Self.sessions()).encoded(of: .secretService).revealBytes()
        for count in 0..<bytes.count {
            let cut = Secret(bytes: bytes[..<count])
            let refusal = #expect(throws: DamagedRecord.self) { try Handover.decode(cut, of: .secretService) }
            #expect(refusal?.reason.contains("token of") == false)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let unknownMark = Secret(text.replacing("secret-service 3", with: "secret-service 3 other"))
        #expect(throws: DamagedRecord.self) { try Handover.decode(unknownMark, of: .secretService) }
        for other in ["authd-sessions 2", "authd-session 1", "", "\u{0}"] {
            let changed = Secret(text.replacing("authd-sessions 1", with: other))
            #expect(throws: DamagedRecord.self) { try Handover.decode(changed, of: .secretService) }
        }
    }
}
