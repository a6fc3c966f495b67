extension EngineShare {
    /// True if the site falls to this share: of all shares, it has the highest SHA-256 of the site's base topic, a blank
    /// and its index (rendezvous hashing).
    package func has(site: String) -> Bool {
        guard count > 1 else { return true }
        let digests = (1...count).map { SiteDigest.sha256(Array("\(site) \($0)".utf8)) }
        let own = digests[index - 1]
        return digests.allSatisfy { !own.lexicographicallyPrecedes($0) }
    }
}
