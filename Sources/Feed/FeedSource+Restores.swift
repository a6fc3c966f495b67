// Sites that were restored from old copies of their disks, while this engine stands by.
extension FeedSource {
    /// The sites that were restored, and that no leading engine has answered since, in order. They send nothing until then. It is
    /// empty while this engine leads, because a leader answers at once.
    package var unansweredRestores: [String] {
        guard term == nil else { return [] }
        return sites.filter { $0.value.hasOldHello || $0.value.isHere && $0.value.restoredLife != nil }.keys.sorted()
    }

    /// Reports that a site has begun a new life. A stand-by reports it again when it leads, unless another engine has answered the
    /// site before.
    mutating func restored(_ site: String, _ life: FeedLife) {
        effects.append(.restored(site: site, life))
        sites[site]?.restoredLife = term == nil ? life : nil
    }

    /// Notes that another engine has answered the site, if a claim shows it: only the answer of an engine that leads is a claim of
    /// the new life.
    mutating func noteAnswer(_ claim: FeedCursor, at site: String) {
        if sites[site]?.restoredLife?.installation == claim.installation { sites[site]?.restoredLife = nil }
    }

    /// Reports the new life of a site once more, because this engine leads now and has answered the site.
    mutating func reportRestoreAgain(of name: String) {
        guard let site = sites[name], site.isHere, let life = site.restoredLife else { return }
        sites[name]?.restoredLife = nil
        effects.append(.restored(site: name, life))
    }
}
