import Expressions
import Settings
import YAMLFiles

// Reads the sites of `sources:`, and `engine:`.
extension ConfigurationReader {
    /// Reads an entry of `sources:` that is a mapping.
    mutating func readSite(_ node: YAMLNode) {
        guard let fields = checker.fields(node, .source) else { return }
        if let topic = fields.string("mqtt"), let node = fields.node("mqtt") {
            if !Configuration.isSite(topic) {
                checker.error(
                    "E203", at: node, "\"\(checker.shown(topic))\" is not the base topic of a site",
                    hint: "write tryck/NAME, or tryck/+ for all")
            } else if configuration.sites.contains(topic) {
                checker.error("E203", at: node, "the source \"\(checker.shown(topic))\" is listed twice")
            } else if configuration.sites.count == Configuration.maximumSites {
                checker.error("E203", at: node, "there are at most \(Configuration.maximumSites) sources of this kind")
            } else {
                configuration.sites.append(topic)
            }
        }
        guard let text = fields.string("share"), let node = fields.node("share") else { return }
        guard let share = Configuration.Share(text) else {
            return checker.error(
                "E203", at: node, "\"\(checker.shown(text))\" is not a share",
                hint: "write 1 of 4 for the first of four; at most \(Configuration.Share.maximumCount)")
        }
        if let other = configuration.share, other != share {
            checker.error("E203", at: node, "an engine has one share, and another source says \(other.text)")
        }
        configuration.share = share
    }

    mutating func readEngine(_ fields: CheckedMapping) {
        let section = section("engine", of: fields)
        configuration.enginePatience = section?.duration("patience") ?? configuration.enginePatience
        if let name = section?.string("name"), let node = section?.node("name") {
            configuration.engineName = name
            if !(1...Configuration.maximumEngineName).contains(name.utf8.count) {
                checker.error(
                    "E203", at: node, "the name of an engine has 1 to \(Configuration.maximumEngineName) octets")
            }
        }
        if !configuration.sites.isEmpty, fields.node("engine") == nil, let node = fields.node("sources") {
            checker.error("E203", at: node, "an engine of sites needs a name", hint: "add engine: {name: a1}")
        }
        if !configuration.sites.isEmpty, configuration.broker == .none, let node = fields.node("sources") {
            checker.error("E203", at: node, "sites need the broker of mqtt:", hint: "write mqtt: {broker: mqtt://HOST}")
        }
    }
}
