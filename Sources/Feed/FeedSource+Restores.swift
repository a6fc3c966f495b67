// Sites that were restored from old copies of their disks, while this engine stands by.
extension FeedSource {
    /// The sites that were restored, and that no leading engine has answered since, in order. They send nothing until then. A
    /// leader answers at once, so that there are none while this engine leads.
    package var unansweredRestores: [String] {
        guard term == nil else { return [] }
        return sites.filter { $0.value.hasOldHello || $0.value.isHere && $0.value.restoredLife != nil }.keys.sorted()
    }

    /// A site has begun a new life. A stand-by says so again when it leads, unless another engine has answered the site.
    mutating func restored(_ site: String, _ life: FeedLife) {
        effects.append(.restored(site: site, life))
        sites[site]?.restoredLife = term == nil ? life : nil
    }

    /// An engine has made a claim. Those of a new life are made when an engine that leads answers the site.
    mutating func restoreIsAnswered(by claim: FeedCursor, at site: String) {
        if sites[site]?.restoredLife?.installation == claim.installation { sites[site]?.restoredLife = nil }
    }

    /// This engine leads, and has answered the site if it is connected.
    mutating func answeredRestore(of name: String) {
        guard let site = sites[name], site.isHere, let life = site.restoredLife else { return }
        sites[name]?.restoredLife = nil
        effects.append(.restored(site: name, life))
    }
}
