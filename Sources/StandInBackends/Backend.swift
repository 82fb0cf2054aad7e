/// The five backends, under the names of their profiles.
package enum Backend: String, Sendable, CaseIterable, Codable, Hashable {
    case awsLambda = "aws-lambda"
    case envelope
    case anonymousWall = "anonymous-wall"
    case forkInTheRoad = "fork-in-the-road"
    case appTemplate = "app-template"

    /// The path of its base URL. The paths of calls, misbehaviours and counts are relative to it.
    package var basePath: String {
        switch self {
        case .awsLambda: "/prod"
        case .envelope: "/api"
        case .anonymousWall, .forkInTheRoad, .appTemplate: ""
        }
    }

    func shape(_ accounts: Accounts) -> any Shape {
        switch self {
        case .awsLambda: AWSLambda(accounts: accounts)
        case .envelope: Envelope(accounts: accounts)
        case .anonymousWall: AnonymousWall(accounts: accounts)
        case .forkInTheRoad: ForkInTheRoad(accounts: accounts)
        case .appTemplate: AppTemplate(accounts: accounts)
        }
    }
}
