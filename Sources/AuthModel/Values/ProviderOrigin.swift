/// Scheme, host and port of a provider: what is reached or not reached, whoever asks and for what.
package struct ProviderOrigin: Sendable, Hashable {
    /// As it stands before a path.
    package let text: String
    package let host: String
    package let isSecure: Bool
    /// Nothing that is sent there leaves the machine.
    package let isLoopback: Bool

    /// `nil` for what is no address of a provider.
    package init?(of url: String) {
        guard let scheme = url.range(of: "://") else { return nil }
        let rest = url[scheme.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        guard let base = try? BaseURL(String(url[..<end])) else { return nil }
        text = base.text
        host = base.host
        isSecure = base.isSecure
        isLoopback = base.isLoopback
    }
}

extension ProviderOrigin {
    /// Of those that are addresses of providers.
    package static func all(of urls: [String]) -> Set<ProviderOrigin> { Set(urls.compactMap(ProviderOrigin.init(of:))) }
}

extension String {
    fileprivate func range(of pattern: String) -> Range<String.Index>? {
        firstRange(of: pattern)
    }
}
