import Expressions
import Settings
import YAMLFiles

// Reads `uplink:`, which makes this machine a site of an engine.
extension ConfigurationReader {
    mutating func readUplink(_ fields: CheckedMapping) {
        guard let fields = section("uplink", of: fields) else { return }
        let broker = fields.node("broker").flatMap { uplinkBroker($0, fields) }
        let topic = fields.node("topic").flatMap { siteTopic($0, fields) }
        let buttons = fields.node("buttons").map { node in
            checker.oneOrMany(node, empty: "the list of buttons is empty")
                .compactMap { checker.text($0, key: "buttons", .areText)?.string }
        }
        guard let broker, let topic else { return }
        var uplink = Configuration.Uplink(broker: broker, topic: topic)
        uplink.username = fields.string("username")
        uplink.password = fields.string("password").map(Password.init)
        uplink.clientIdentifier = fields.string("client_id")
        uplink.buttons = buttons ?? []
        uplink.journalLength = fields.integer("journal") ?? uplink.journalLength
        if let node = fields.node("tls"), let fields = checker.fields(node, .tls) { uplink.tls = tls(fields) }
        configuration.uplink = uplink
    }

    private mutating func uplinkBroker(_ node: YAMLNode, _ fields: CheckedMapping) -> Configuration.Broker? {
        guard let text = fields.string("broker") else { return nil }
        switch Configuration.Broker(text) {
        case let broker? where broker != .embedded && broker != .none: return broker
        case .some, nil:
            checker.error(
                "E204", at: node, "\"\(checker.shown(text, of: node))\" is not the address of a broker",
                hint: "write mqtt://HOST:PORT or mqtts://HOST:PORT, and username: and password: below it")
            return nil
        }
    }

    private mutating func siteTopic(_ node: YAMLNode, _ fields: CheckedMapping) -> String? {
        guard let text = fields.string("topic") else { return nil }
        guard Configuration.isSite(text), !text.utf8.contains(UInt8(ascii: "+")) else {
            checker.error(
                "E508", at: node, "\"\(checker.shown(text))\" is not the base topic of a site",
                hint: "write tryck/NAME, with another name for each site")
            return nil
        }
        return text
    }
}
