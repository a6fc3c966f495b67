import Almanac
import Diagnostics
import Expressions
import Rules
import YAMLFiles

extension RuleSetReader {
    mutating func readLocation(_ node: YAMLNode) {
        contents.location.combine(node)
        guard let fields = checker.fields(node, .location) else { return }
        let zone = fields.node("timezone").flatMap { node in fields.string("timezone").map { ($0, node) } }
        if let (name, node) = zone { readZone(name, node) }
        let isWritten = (fields.isWritten("latitude"), fields.isWritten("longitude"))
        switch isWritten {
        case (true, false): checker.missing("longitude", in: fields, owner: "\"location\"")
        case (false, true): checker.missing("latitude", in: fields, owner: "\"location\"")
        case (true, true):
            guard let latitude = fields.number("latitude"), let longitude = fields.number("longitude") else { return }
            ruleSet.coordinates = Location(latitude: latitude, longitude: longitude)
        case (false, false):
            if !fields.isWritten("timezone") {
                let (start, end) = checker.firstKey(of: node)
                guard fields.misspelt.isEmpty else { return }
                checker.error(
                    "E202", from: start, to: end, alias: node.alias,
                    "\"location\" has neither coordinates nor a time zone",
                    hint: "add latitude: and longitude:, or timezone: to it")
            }
            scope.absent[.sun] = Scope().absent[.sun]
        }
    }

    private mutating func readZone(_ name: String, _ node: YAMLNode) {
        hasTimeZone = true
        guard name != "UTC" else { return }
        guard let octets = inputs.timeZones[name] else {
            let near = checker.nearest(to: name, among: inputs.timeZones.keys.sorted())
            checker.error(
                "E204", at: node, "unknown time zone \"\(checker.shown(name, of: node))\"",
                hint: near.map { .meant($0) } ?? "write a name such as Europe/Amsterdam")
            return
        }
        if let zone = TimeZone(named: name, octets) {
            ruleSet.timeZone = zone
        } else {
            checker.error("E204", at: node, "the data of time zone \"\(checker.shown(name, of: node))\" cannot be read")
        }
    }

    /// Uses the system's time zone when the entry file sets none.
    mutating func setTimeZone() {
        guard !hasTimeZone, let file = inputs.systemTimeZone else { return }
        if let zone = TimeZone(named: file.name, file.octets) { ruleSet.timeZone = zone }
    }

    mutating func readDefaults(_ node: YAMLNode) {
        guard let fields = checker.fields(node, .defaults) else { return }
        if let queued = fields.node("queued").flatMap({ readQueuedPolicy($0) }) { defaults.queued = queued }
        ruleSet.queued = defaults.queued
        if let mode = fields.string("mode").flatMap(Rule.Mode.init(rawValue:)) { defaults.mode = mode }
        defaults.hasWrongMode = fields.isWritten("mode") && fields.string("mode") == nil
        if let cooldown = fields.duration("cooldown") { defaults.cooldown = cooldown }
        if let rate = fields.node("rate_limit").flatMap({ rate($0, key: "rate_limit") }) { defaults.rateLimit = rate }
        if let qos = fields.integer("qos") { defaults.qos = qos }
        if let retain = fields.boolean("retain") { defaults.retain = retain }
        if let age = fields.duration("max_age") { defaults.maximumAge = age }
        defaults.timeout = fields.duration("timeout")
        contents.defaults.combine(node)
    }

    mutating func readQueuedPolicy(_ node: YAMLNode) -> QueuedPolicy? {
        if case .mapping = node.content {
            guard let fields = checker.fields(node, .queued, owner: "\"queued\"") else { return nil }
            return fields.duration("max_age").map {
                .limited(maximumAge: $0, keepLast: fields.string("keep") == "last")
            }
        }
        guard let text = checker.plainText(node, key: "queued", wanted: "drop, accept or {max_age: …}") else {
            return nil
        }
        switch text {
        case "drop": return .drop
        case "accept": return .accept
        default:
            let hint: Hint? =
                text == "true" || text == "false"
                ? Hint(
                    "for runs one after another write mode: queued",
                    checker.changes(ofEntry: "queued", before: node, into: "mode: queued"))
                : checker.nearest(to: text, among: ["drop", "accept"]).map { .meantWord($0) }
            checker.error(
                "E204", at: node, "\"queued\" must be drop, accept or {max_age: …}, not \"\(checker.shown(text))\"",
                hint: hint)
            return nil
        }
    }
}
