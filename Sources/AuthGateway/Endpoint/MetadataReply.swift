import AuthModel
package import AuthWire

extension EndpointReply {
    /// An error of the metadata view.
    package init(metadata problem: FrontProblem) {
        self.init(problem, for: .gce)
        fields.append(MetadataRoute.flavor)
    }

    /// What is not a token.
    /// - Returns: `nil` for one.
    package static func metadata(
        _ item: MetadataRoute.Item, email: String, scopes: [String]
    ) -> EndpointReply? {
        switch item {
        case .ping: text("computeMetadata/\n")
        case .email: text(email)
        case .scopes: text(scopes.map { $0 + "\n" }.joined())
        case .aliases: text(MetadataRoute.usualAccount + "\n")
        case .account:
            flavored(
                EndpointReply(json: [
                    "aliases": [.string(MetadataRoute.usualAccount)], "email": .string(email),
                    "scopes": .array(scopes.map(JSON.string)),
                ]))
        case .token, .identity: nil
        }
    }

    /// - Throws: if the program could not use the token.
    package static func metadata(token: TokenResult) throws(FrontProblem) -> EndpointReply {
        try token.checkIsBearer()
        let left = token.valid ?? EndpointLimits.assumedLifetime
        return flavored(
            EndpointReply(json: [
                "access_token": .string(token.accessToken), "expires_in": .integer(Int64(left.seconds)),
                "token_type": "Bearer",
            ]))
    }

    /// - Throws: if the token is not a JWT: clients read its end from it.
    package static func metadata(identity token: TokenResult) throws(FrontProblem) -> EndpointReply {
        try token.checkIsBearer()
        guard token.accessToken.split(separator: ".", omittingEmptySubsequences: false).count == 3 else {
            throw FrontProblem(400, .unsupported, "The session's tokens are not JWTs, so there is no identity token.")
        }
        return text(token.accessToken)
    }

    private static func text(_ text: String) -> EndpointReply {
        flavored(EndpointReply(200, type: "application/text", body: Array(text.utf8)))
    }

    private static func flavored(_ reply: EndpointReply) -> EndpointReply {
        var reply = reply
        reply.fields.append(MetadataRoute.flavor)
        return reply
    }
}

extension TokenResult {
    /// - Throws: if each request needs a proof (RFC 9449), which no SDK of a cloud makes.
    package func checkIsBearer() throws(FrontProblem) {
        guard tokenType.lowercased() != "dpop" else {
            throw FrontProblem(
                400, .unsupported, "The session's tokens are bound to a key, which this view cannot use.")
        }
    }
}
