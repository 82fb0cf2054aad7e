/// Limits of the local HTTP endpoint, beside those of its front.
package enum EndpointLimits {
    /// How long the agent may take for a token, which may need a renewal. SDKs give up after 2 or 3 s, and ask again.
    package static let agentTime = Duration.seconds(30)

    /// How long a token is valid at least, if the provider's lifetimes allow. A program may use it more than once.
    package static let leastTime = Duration.seconds(60)

    /// The same for the metadata view: google-auth renews a token 3:45 before its end, and the metadata server of
    /// Google returns another one 5 minutes before.
    package static let leastMetadataTime = Duration.seconds(5 * 60)

    /// The metadata format needs a lifetime. If the provider does not say one, the program asks again after this time.
    package static let assumedLifetime = Duration.seconds(5 * 60)

    /// How long the Security Token Service may take.
    package static let exchangeTime = Duration.seconds(10)

    /// A response of the Security Token Service. The largest have some 4 KiB.
    package static let exchangeBytes = 64 << 10

    /// The characters of a message of the Security Token Service. The longest have a role, an account and a reason.
    package static let messageCharacters = 500

    /// How long a failed exchange is the answer to further requests, so that the retries of many SDKs are not as many
    /// exchanges.
    package static let failurePause = Duration.seconds(2)

    /// Credentials are renewed this long before their end, or in the last quarter of a shorter life. botocore asks for
    /// others in the last 15 minutes.
    package static let longestMargin = Duration.seconds(15 * 60)

    /// Credentials with less than this are not given out. AWS's clocks and this one may differ.
    package static let leastCredentialTime = Duration.seconds(60)

    /// A parameter of a query, such as an audience.
    package static let parameterBytes = 2048
}
