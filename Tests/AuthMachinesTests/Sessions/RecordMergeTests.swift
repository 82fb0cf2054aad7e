import AuthModel
import AuthWire
import Testing

@Suite("Two records of one sign-in")
struct RecordMergeTests {
    /// Every combination of small numbers, of two tokens, two dates and two users.
    private static var all: [SessionRecord] {
        var records: [SessionRecord] = []
        for generation in 1...2 as ClosedRange<UInt64> {
            for corrections in 0...1 as ClosedRange<UInt64> {
                for revision in 1...2 as ClosedRange<UInt64> {
                    for (token, user) in [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")] {
                        for issued in [Duration.zero, .seconds(1)] {
                            var record = MachineBench.record(
                                token: token, life: .seconds(100), at: issued, revision: revision, refresh: token)
                            record.user = UserSummary(id: user)
                            record.needsPassword = user == "y"
                            record.remembered = ["password": Secret(user)]
                            record.generation = generation
                            record.corrections = corrections
                            records.append(record)
                        }
                    }
                }
            }
        }
        return records
    }

    private struct TokenPart: Equatable {
        let tokens: TokenSet
        let generation: UInt64
        let corrections: UInt64

        init(_ record: SessionRecord) {
            tokens = record.tokens
            generation = record.generation
            corrections = record.corrections
        }

        func isNewer(than other: TokenPart) -> Bool {
            (generation, corrections, tokens.issuedAt.unixSeconds)
                > (other.generation, other.corrections, other.tokens.issuedAt.unixSeconds)
        }
    }

    private struct Rest: Equatable {
        let user: UserSummary?
        let needsPassword: Bool
        let remembered: [String: Secret]?
        let revision: UInt64

        init(_ record: SessionRecord) {
            user = record.user
            needsPassword = record.needsPassword
            remembered = record.remembered
            revision = record.revision
        }
    }

    @Test("merge into the newer of each part, taken whole, and the other's if neither is newer")
    func newerOfEach() {
        for mine in Self.all {
            for theirs in Self.all {
                let merged = mine.merged(with: theirs)
                let (a, b) = (TokenPart(mine), TokenPart(theirs))
                #expect(TokenPart(merged) == (a.isNewer(than: b) ? a : b))
                #expect(Rest(merged) == Rest(mine.revision > theirs.revision ? mine : theirs))
                #expect(merged.version.covers(mine.version) && merged.version.covers(theirs.version))
                #expect(merged.version.number >= max(mine.version.number, theirs.version.number))
            }
        }
    }

    @Test("merge into the same whichever is in the store, unless a part of them counts the same and differs")
    func eitherWay() {
        for mine in Self.all {
            #expect(mine.merged(with: mine) == mine)
            for theirs in Self.all {
                let (a, b) = (TokenPart(mine), TokenPart(theirs))
                guard a == b || a.isNewer(than: b) || b.isNewer(than: a),
                    mine.revision != theirs.revision || Rest(mine) == Rest(theirs)
                else { continue }
                #expect(mine.merged(with: theirs) == theirs.merged(with: mine))
            }
        }
    }

    @Test("of which one is written over the other only if nothing newer is lost; a merged one always may be")
    func replacing() {
        for mine in Self.all {
            for theirs in Self.all {
                #expect(mine.mayReplace(theirs, replacesOther: false) == (mine.merged(with: theirs) == mine))
                #expect(mine.merged(with: theirs).mayReplace(theirs, replacesOther: false))
            }
        }
    }

    @Test("merge into the same in whatever grouping three writers meet")
    func threeWriters() {
        let some = Self.all.enumerated().filter { $0.offset % 5 == 0 }.map(\.element)
        for first in some {
            for second in some {
                for third in some {
                    #expect(
                        first.merged(with: second).merged(with: third) == first.merged(with: second.merged(with: third))
                    )
                }
            }
        }
    }

    @Test("of two sign-ins one replaces the other only if it is said to be the later one")
    func twoSignIns() {
        let old = MachineBench.record(token: "old", life: nil, revision: 9)
        let new = MachineBench.otherSignIn(token: "new", life: nil, at: .zero)
        #expect(new.mayReplace(old, replacesOther: true) && !new.mayReplace(old, replacesOther: false))
        #expect(!new.version.covers(old.version))
    }

    @Test("a record that replaces another one has a higher number, whatever was corrected in that")
    func numberGrows() {
        var old = MachineBench.record(token: "old", life: nil, revision: 3)
        old.corrections = 9
        var new = MachineBench.otherSignIn(token: "new", life: nil, at: .zero)
        new.raise(above: old)
        #expect(new.version.number > old.version.number)
    }

    @Test("an ID of a sign-in is a word that no date is, and an older sign-in has one that follows from its date")
    func signInIDs() {
        #expect(SignInID.random() != SignInID.random())
        #expect(SignInID(SignInID.random().text) != nil)
        let date = WallTime(unixSeconds: 1_800_000_000.125)
        #expect(SignInID(signedInAt: date).text == "at1800000000125")
        #expect(SignInID("at1800000000125") == SignInID(signedInAt: date))
        for extreme in [1e300, -1e300, -0.001] {
            #expect(SignInID(SignInID(signedInAt: WallTime(unixSeconds: extreme)).text) != nil)
        }
        for word in [
            "", "1800000000.125", "1e5", "-1", "S1", "s 1", "s\n", "s\u{e9}", String(repeating: "s", count: 65),
        ] {
            #expect(SignInID(word) == nil, "\(word)")
        }
    }

    @Test("a stored record allows a renewal of the same tokens with other dates, and not of tokens that were renewed")
    func renewal() {
        let mine = MachineBench.record(token: "a", life: .seconds(100))
        var stored = MachineBench.record(token: "a", life: .seconds(100), at: .seconds(600))
        #expect(stored.allowsRenewal(of: mine) && mine.allowsRenewal(of: stored))
        stored.corrections += 1
        #expect(stored.allowsRenewal(of: mine) && mine.allowsRenewal(of: stored))
        // A token that was prolonged.
        stored.generation += 1
        #expect(!stored.allowsRenewal(of: mine) && mine.allowsRenewal(of: stored))
        #expect(!MachineBench.otherSignIn(token: "a", life: .seconds(100), at: .zero).allowsRenewal(of: mine))
    }
}
