import Foundation
import TestSupport
import Testing

@Suite("The search for secrets")
struct SecretSearchTests {
    private static let secret = "s3cret+token/of=mine~ä"

    @Test("finds one as it is, percent-encoded, and in base64 wherever it begins there", arguments: 0..<7)
    func finds(offset: Int) throws {
        let around = Data((String(repeating: "x", count: offset) + Self.secret + "yz").utf8).base64EncodedString()
        let escaped = try #require(Self.secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let search = SecretSearch(["another secret", Self.secret])
        for text in [
            "a \(Self.secret) b", around, around.replacing("+", with: "-").replacing("/", with: "_"), escaped,
            escaped.replacing("%2B", with: "%2b").replacing("%2F", with: "%2f").replacing("%3D", with: "%3d")
                .replacing("%C3%A4", with: "%c3%a4"),
        ] {
            let text = text.replacing("%7E", with: "~").replacing("%7e", with: "~")
            #expect(search.findings(in: ["there": text]) == ["secret 1 in there"], "\(text)")
        }
        #expect(search.findings(in: ["there": "nothing of it, and s3cret alone"]).isEmpty)
    }
}
