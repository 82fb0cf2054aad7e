import AuthWire
import CommandArguments

struct ClientMetadataCommand: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "client-metadata", abstract: "Print the document that describes authd as an OAuth client.",
        discussion: """
            Host it at that URL, and set client_metadata_url in the settings to the URL. Servers that accept Client ID \
            Metadata Documents then know authd without a registration.
            """)

    @OptionGroup(visibility: .hidden) var common: GeneralOptions

    @Argument(help: "The URL that the document will have: https, with a path.", completion: .nothing)
    var url: String

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        guard ClientMetadata.isDocumentURL(url) else {
            throw .usage("the URL must be https, with a path, and without a query, fragment or user name")
        }
        try Output.json(ClientMetadata.document(at: url))
        return .done
    }
}
