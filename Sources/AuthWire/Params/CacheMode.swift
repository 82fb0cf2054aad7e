/// How a read may be answered from what is kept of earlier answers.
public enum CacheMode: String, Sendable, CaseIterable {
    /// From memory while it is fresh, else from the provider; what is kept stands in when the provider is out of reach.
    case standard = "default"
    /// From the provider, whatever is kept.
    case reload
    /// From memory alone, however old; nothing is sent.
    case only
}
