import Feed
import Hub
import Settings

extension EngineConfiguration {
    /// `nil` if the configuration names no sites.
    init?(_ configuration: Configuration) {
        guard !configuration.sites.isEmpty else { return nil }
        let share = configuration.share.flatMap { EngineShare(index: $0.index, count: $0.count) }
        self.init(
            name: configuration.engineName ?? "", share: share ?? .whole, sites: configuration.sites,
            patience: EnginePatience(configuration.enginePatience))
    }
}
