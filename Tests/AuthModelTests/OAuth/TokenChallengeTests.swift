import AuthWire
import Testing

@testable import AuthModel

@Suite("A token challenge")
struct TokenChallengeTests {
    private func challenge(_ headers: String..., name: String = "WWW-Authenticate") -> TokenChallenge? {
        TokenChallenge(HTTPResponse(status: 401, headers: headers.map { (name, $0) }, body: []))
    }

    @Test("the examples of RFC 6750 §3, RFC 9449 §7.1 and RFC 9728 §5.1 are read")
    func examples() {
        #expect(challenge(#"Bearer realm="example""#) != nil)
        let bearer = challenge(
            #"Bearer realm="example", error="invalid_token", error_description="The access token expired""#)
        #expect(bearer?.error == "invalid_token" && bearer?.description == "The access token expired")
        #expect(challenge(#"DPoP error="invalid_token", algs="ES256 PS256""#)?.error == "invalid_token")
        let place = "https://resource.example.com/.well-known/oauth-protected-resource"
        #expect(challenge("Bearer resource_metadata=\"\(place)\"")?.resourceMetadata == place)
    }

    @Test("other schemes, several headers, odd spaces and quoted commas do not matter")
    func mixed() {
        #expect(
            challenge(#"Basic realm="a, b=c", bearer  error = invalid_token , Negotiate abc=="#)?.error
                == "invalid_token")
        #expect(challenge("Negotiate", #"BEARER error="insufficient_scope""#)?.error == "insufficient_scope")
        #expect(challenge(#"Bearer error_description="say \"hi\", all""#)?.description == #"say "hi", all"#)
        #expect(challenge(#"Basic realm="x", error="invalid_token""#) == nil)
        #expect(challenge(#"Bearer error="a""#, name: "Proxy-Authenticate") == nil)
    }

    @Test(
        "malformed challenges do no harm", arguments: ["", ",,,", "=", "\"", "Bearer =\"", "Bearer a=\"\\"])
    func broken(header: String) {
        let found = challenge(header)
        #expect(found == nil || found?.error == nil)
    }

    @Test("text for the user has no control characters, and an invalid address is left out")
    func harmless() {
        let found = challenge("Bearer error_description=\"a\u{1b}[2Jb\", resource_metadata=\"javascript:1\"")
        #expect(found?.description == "a [2Jb" && found?.resourceMetadata == nil)
    }
}
