/// How a request may be answered from the cache.
public enum CacheMode: String, Sendable, CaseIterable {
    /// From the cache while it is fresh, else from the provider. A stale response is used if the provider cannot be reached.
    case standard = "default"
    /// From the provider, whatever is cached.
    case reload
    /// From the cache alone, however old. Nothing is sent.
    case only
}
