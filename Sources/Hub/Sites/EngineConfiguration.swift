package import Feed

/// `engine:` and the sites of `sources:` in the configuration.
package struct EngineConfiguration: Hashable, Sendable {
    /// The engine's name, 1…64 octets. The engines of a share have different names.
    package var name: String
    /// The part of the sites that this engine takes.
    package var share: EngineShare
    /// The base topics of the sites, which may have the wildcard `+`: `tryck/+`.
    package var sites: [String]
    /// How long this engine may be silent as a leader.
    package var patience: EnginePatience

    package init(
        name: String, share: EngineShare = .whole, sites: [String], patience: EnginePatience = .standard
    ) {
        self.name = name
        self.share = share
        self.sites = sites
        self.patience = patience
    }

    /// True if one of `sites` names the site, and the site belongs to `share`.
    func includes(site: String) -> Bool {
        let levels = site.split(separator: "/", omittingEmptySubsequences: false)
        let isNamed = sites.contains { pattern in
            let wanted = pattern.split(separator: "/", omittingEmptySubsequences: false)
            return wanted.count == levels.count && zip(wanted, levels).allSatisfy { $0 == "+" || $0 == $1 }
        }
        return isNamed && share.has(site: site)
    }
}
