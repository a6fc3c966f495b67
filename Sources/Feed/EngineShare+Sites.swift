import Cryptography

extension EngineShare {
    /// True if the site belongs to this share. The owner of a site is the share with the highest SHA-256 of the text
    /// "TOPIC INDEX", with the base topic of the site and the index of the share (rendezvous hashing).
    package func has(site: String) -> Bool {
        guard count > 1 else { return true }
        let digests = (1...count).map { Digest.sha256(Array("\(site) \($0)".utf8)) }
        let own = digests[index - 1]
        return digests.allSatisfy { !own.lexicographicallyPrecedes($0) }
    }
}
