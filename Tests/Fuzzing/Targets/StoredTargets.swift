import AuthMachines
import AuthWire

@testable import AuthAgent
@testable import AuthModel
@testable import AuthSealedFile

extension FuzzTarget {
    private static let key = SealingKey(Secret(bytes: Array(repeating: 7, count: SealingKey.size)))

    /// Sealed files, the labels of their headers, and the files of the lock. The first byte says which.
    static let sealed = FuzzTarget("sealed", longest: 2048) { bytes throws(Violation) in
        var input = InputReader(bytes)
        let kind = input.byte() % 5
        guard let key else { throw Violation("the key could not be made") }
        switch kind {
        case 0: try checkFile(Array(input.rest), key)
        // An intact file of anybody: its checksum is right.
        case 1: try checkFile(SealedBytes.summed(Array(input.rest)), key)
        case 2: try checkContent(&input, key)
        case 3: try checkLabel(String(decoding: input.rest, as: UTF8.self))
        default: try checkLock(Array(input.rest))
        }
    }

    private static func checkFile(_ file: [UInt8], _ key: SealingKey) throws(Violation) {
        if let header = try? SealedBytes.header(of: file) {
            try require(file.starts(with: header.bytes), "a header is read as another one")
        }
        try require((try? SealedBytes.open(file, name: "a.session", keys: [key])) == nil, "a foreign file is opened")
    }

    private static func checkContent(_ input: inout InputReader, _ key: SealingKey) throws(Violation) {
        let (place, bit) = (Int(input.byte()) << 8 | Int(input.byte()), UInt8(1) << (input.byte() & 7))
        let content = Secret(bytes: input.rest)
        guard var file = try? SealedBytes.seal(content, name: "a.session", label: "shop", generation: 7, key: key)
        else {
            throw Violation("nothing was sealed")
        }
        let opened = try? SealedBytes.open(file, name: "a.session", keys: [key])
        try require(opened?.content == content, "another content is opened")
        file[place % file.count] ^= bit
        try require((try? SealedBytes.open(file, name: "a.session", keys: [key])) == nil, "a changed file is opened")
        if let index = SealedIndex(content) {
            try require(SealedIndex(index.content) == index, "an index is read as another one")
        }
        guard
            let sealed = try? SealedBytes.seal(
                content, name: WrappedKeys.fileName, label: "given", generation: 0, key: key),
            let keys = try? WrappedKeys(sealed, wrapping: .given, outer: key)
        else { return }
        try require(!keys.keys.isEmpty, "a file without keys is accepted")
    }

    private static func checkLabel(_ text: String) throws(Violation) {
        guard let wrapping = KeyWrapping(label: text) else { return }
        try require(KeyWrapping(label: wrapping.label) == wrapping, "a label is read as another one")
        if case .passphrase(let cost, _) = wrapping {
            try require(cost.mebibytes <= 1024, "a passphrase takes \(cost.mebibytes) MiB")
        }
    }

    private static func checkLock(_ bytes: [UInt8]) throws(Violation) {
        if let verifier = PassphraseVerifier(bytes) {
            try require(PassphraseVerifier(verifier.encoded) != nil, "a verifier cannot be read again")
        }
        guard let record = LockRecord(bytes) else { return }
        try require(LockRecord(record.encoded) == record, "a lock is read as another one")
        let now = WallTime(unixSeconds: 1_800_000_000)
        if let pause = record.pause(at: now) {
            try require(
                pause > now && pause <= now + LockRecord.window, "attempts are refused until \(pause.unixSeconds)")
        }
        var later = record
        later.recordFailure(at: now)
        try require(later.recentFailures(at: now) > 0, "a failed attempt is not counted")
        try require(LockRecord(later.encoded) == later, "a lock with another failure is read as another one")
    }

    /// The content of an export bundle, or of a store.
    static let bundle = FuzzTarget("bundle") { bytes throws(Violation) in
        guard let records = try? StoreAdmin.records(in: Secret(bytes: bytes)) else { return }
        for record in records { try check(record) }
    }

    /// What the service manager has kept from the run before.
    static let handover = FuzzTarget("handover") { bytes throws(Violation) in
        for kind in StoreKind.allCases {
            guard let handover = try? Handover.decode(Secret(bytes: bytes), of: kind) else { continue }
            let text = handover.encoded(of: kind)
            try require((try? Handover.decode(text, of: kind)) == handover, "sessions are read as others")
            for session in handover.sessions {
                try check(session.record)
                let now = Moment(boot: BootInstant(sinceBoot: .seconds(50)), wall: WallTime(unixSeconds: 1_800_000_000))
                var machine = SessionMachine(handedOver: session, means: .lasting, now: now, seed: 1)
                machine.handle(.begun, at: now)
            }
        }
    }

    /// A record is read as it was written, and a session can begin with it.
    private static func check(_ record: SessionRecord) throws(Violation) {
        guard let again = try? SessionRecord(decoding: record.encoded()) else {
            throw Violation("a record cannot be read again")
        }
        try require(again == record, "a record is read as another one")
        let now = Moment(boot: BootInstant(sinceBoot: .seconds(50)), wall: WallTime(unixSeconds: 1_800_000_000))
        for means in [RenewalMeans.none, .liveToken, .lasting] {
            var machine = SessionMachine(stored: record, means: means, now: now, seed: 1)
            machine.handle(.begun, at: now)
            let turn = machine.handle(.tokenRequested(CallerID(1), minValid: .seconds(60)), at: now)
            for case .token(let token) in turn.replies.map({ $0.reply }) {
                let end = record.tokens.expiresAt ?? WallTime(unixSeconds: .infinity)
                try require(end > now.wall, "an ended token is returned")
                try require(token.accessToken == record.tokens.accessToken.reveal(), "another token is returned")
            }
            machine.handle(.clockSet, at: now)
        }
    }
}
