package import AuthModel
package import AuthWire

/// Temporary credentials of a role at AWS.
package struct AWSCredentials: Sendable, Equatable {
    package let keyID: String
    package let secretKey: Secret
    package let sessionToken: Secret
    /// RFC 3339, as AWS wrote it.
    package let expiration: String
    package let end: WallTime

    package init(keyID: String, secretKey: Secret, sessionToken: Secret, expiration: String, end: WallTime) {
        self.keyID = keyID
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expiration = expiration
        self.end = end
    }

    /// The format of the container credentials, which SDKs request at `AWS_CONTAINER_CREDENTIALS_FULL_URI`.
    package func containerJSON(role: String) -> JSON {
        [
            "RoleArn": .string(role), "AccessKeyId": .string(keyID), "SecretAccessKey": .string(secretKey.reveal()),
            "Token": .string(sessionToken.reveal()), "Expiration": .string(expiration),
        ]
    }

    /// The format of a `credential_process`.
    package var processJSON: JSON {
        [
            "Version": 1, "AccessKeyId": .string(keyID), "SecretAccessKey": .string(secretKey.reveal()),
            "SessionToken": .string(sessionToken.reveal()), "Expiration": .string(expiration),
        ]
    }
}
