import AgentTestSupport
import AuthWire

@testable import AuthModel

extension FuzzTarget {
    /// A JSON Web Token; or, if it begins with a brace, its header, its claims and a set of keys in lines.
    static let jwt = FuzzTarget("jwt") { bytes throws(Violation) in
        var token = bytes
        var keys = JSON.null
        if bytes.first == UInt8(ascii: "{") {
            var input = InputReader(bytes)
            let parts = [Array(input.line() ?? []), Array(input.line() ?? []), [1, 2, 3]].map(Base64URL.encode)
            token = Array(parts.joined(separator: ".").utf8)
            keys = (try? JSON(parsing: Array(input.rest), values: Limits.jsonValues)) ?? .null
        }
        let secret = Secret(bytes: token)
        for date in [JWTClaims.expiry(of: secret), JWTClaims.issuedAt(of: secret)].compactMap(\.self) {
            try require(
                TokenLifetimeDecoder.dates.contains(date.unixSeconds), "the date \(date.unixSeconds) is accepted")
        }
        try require(
            JWTClaims.scopes(of: secret) == nil || JWTClaims.isReadable(secret), "an unreadable token has scopes")
        _ = (JWTClaims.texts(of: secret), JWTClaims.audiences(of: secret))
        guard let identity = try? IDToken(secret) else { return }
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let algorithm = JWTClaims.json(parts[0])?["alg"]?.stringValue ?? "none"
        try require(
            algorithm.hasPrefix("RS") || algorithm.hasPrefix("PS") || algorithm.hasPrefix("ES") || algorithm == "EdDSA",
            "a token with the algorithm \(algorithm) is accepted")
        try check(identity)
        for key in identity.keys(in: keys) where key["kty"]?.stringValue == "RSA" {
            let number = (Base64URL.decode((key["n"]?.stringValue ?? "").utf8) ?? []).drop { $0 == 0 }
            try require((256...1024).contains(number.count), "an RSA key of \(number.count * 8) bits is used")
        }
    }

    private static func check(_ identity: IDToken) throws(Violation) {
        let expected = IDToken.Expectation(
            issuer: "https://server.example.com", clientID: "s6BhdRkqt3", nonce: "n-0S6_WzA2Mj")
        let now = WallTime(unixSeconds: 1_311_281_000)
        guard (try? identity.check(expected, now: now, cryptography: PlainCryptography())) != nil else { return }
        let claims = identity.claims
        try require(claims["iss"]?.stringValue == expected.issuer, "another issuer is accepted")
        try require(claims["nonce"]?.stringValue == expected.nonce, "another sign-in is accepted")
        let audience = claims["aud"]?.arrayValue ?? [claims["aud"] ?? .null]
        try require(audience.contains(.string(expected.clientID)), "another client is accepted")
        try require((claims["exp"]?.doubleValue ?? 0) > now.unixSeconds - 121, "an expired token is accepted")
    }

    /// What servers publish about themselves: metadata of an issuer and of a resource, a device authorization, a registration.
    static let metadata = FuzzTarget("metadata") { bytes throws(Violation) in
        guard let json = try? JSON(parsing: bytes, values: Limits.jsonValues) else { return }
        let issuer = json["issuer"]?.stringValue ?? ""
        for name in Set([issuer, "https://issuer.example.org", "http://127.0.0.1:8080"]) {
            let profile = OAuthProfile(issuer: name, clientID: "authd")
            guard let server = try? OAuthServer(metadata: json, of: profile, mayBeInsecure: false) else { continue }
            try check(server, of: name)
        }
        try checkResource(json)
        if let device = try? DeviceAuthorization(json) {
            try require((.seconds(1)...(.seconds(60))).contains(device.interval), "an interval of \(device.interval)")
            try require(
                (.seconds(1)...(.seconds(86_400))).contains(device.lifetime), "a lifetime of \(device.lifetime)")
            try require(VisibleText.line(device.userCode) == device.userCode, "hidden characters in a code")
            for url in [device.verificationURI, device.completeURI].compactMap(\.self) {
                try require(Origin(of: url) != nil && url.utf8.allSatisfy(\.isVisible), "'\(url)' is shown")
            }
        }
        if let client = try? RegisteredClient(json, issuer: "https://issuer.example.org", mayBeInsecure: false) {
            try require(
                (try? RegisteredClient.decode(stored: client.json)) == client, "a client is read as another one")
            if let url = client.place?.url { try checkEndpoint(url) }
        }
    }

    private static func check(_ server: OAuthServer, of issuer: String) throws(Violation) {
        guard let base = try? BaseURL(issuer), base.isSecure, !base.isLoopback else { return }
        for (_, path) in OAuthEndpoints.names {
            if let url = server.endpoints[keyPath: path] { try checkEndpoint(url) }
        }
        for place in OAuthServer.places(of: issuer) {
            try require(Origin(of: place) == Origin(of: issuer), "metadata of \(issuer) is read from \(place)")
        }
    }

    /// A remote server must not direct anything to this machine, or over a connection without TLS.
    private static func checkEndpoint(_ url: String) throws(Violation) {
        guard let origin = Origin(of: url) else { throw Violation("'\(url)' is accepted as an endpoint") }
        try require(origin.isSecure && !origin.isLoopback, "'\(url)' is accepted from a remote server")
    }

    private static func checkResource(_ json: JSON) throws(Violation) {
        guard let url = try? ResourceURL("https://mcp.example.org/api/v1"),
            let resource = try? ResourceMetadata(json, of: url)
        else { return }
        try require(Origin(of: resource.identifier) == url.origin, "metadata of \(resource.identifier) is accepted")
        try require(!resource.servers.isEmpty && resource.servers.count <= 5, "\(resource.servers.count) servers")
        for server in resource.servers { try checkEndpoint(server) }
        try require(resource.scopes?.allSatisfy(OAuthScope.isOne) ?? true, "a scope that is none is accepted")
    }
}
