import ButtonModel
import Diagnostics
import Rules

extension RuleReader {
    mutating func readButtons(_ node: YAMLNode) {
        guard case .mapping(let entries) = node.content else {
            if case .invalid = node.content { return }
            checker.error(
                "E203", at: node, "\"buttons\" must be a mapping of name to button", hint: "write kitchen: BF12-C34567")
            return
        }
        for entry in entries {
            let key = entry.key
            let isName = checker.checkName(
                key.text, isPlain: key.isPlain, from: key.start, to: key.end, alias: key.alias)
            if entry.value.isNull {
                checker.error(
                    "E114", at: key, "\"\(checker.shown(key.text))\" has no value",
                    hint: "give it a serial: BF12-C34567")
            } else if let button = readButton(entry), isName {
                set.buttons.append(button)
            }
        }
    }

    private mutating func readButton(_ entry: YAMLNode.Entry) -> DeclaredButton? {
        let node = entry.value
        let name = entry.key.text
        if case .scalar = node.content {
            guard let text = checker.text(node, key: name, .areForbidden)?.string else { return nil }
            return readShortForm(text, node).map { DeclaredButton(name: name, hardware: $0) }
        }
        guard let fields = checker.fields(node, .button, owner: "button \"\(checker.shown(name))\"") else { return nil }
        let queued = fields.node("queued").flatMap { readQueuedPolicy($0) }
        guard let hardware = readHardware(fields) else { return nil }
        return DeclaredButton(
            name: name, hardware: hardware,
            triggerMode: fields.string("trigger_mode").flatMap(TriggerMode.init(rawValue:)), queued: queued)
    }

    /// A text alone says by its form what it is.
    private mutating func readShortForm(_ text: String, _ node: YAMLNode) -> DeclaredButton.Hardware? {
        if text.utf8.count == 32, text.utf8.allSatisfy(isHexadecimal) { return .uuid(text.lowercased()) }
        if text.contains(":") { return readAddress(text, node) }
        return readSerial(text, node)
    }

    /// Exactly one of the ways to describe a button.
    mutating func readHardware(_ fields: Fields) -> DeclaredButton.Hardware? {
        let written = MappingTable.hardware.keys.compactMap { key in fields.key(key.name) }.sorted {
            $0.start < $1.start
        }
        if written.count > 1 {
            checker.error(
                "E210", at: written[1], "give exactly one of \"uuid\", \"serial\", \"address\" and \"nickname\"")
            return nil
        }
        guard let key = written.first else {
            guard MappingTable.hardware.keys.allSatisfy({ !fields.misspelt.contains($0.name) }) else { return nil }
            let (start, end) = checker.firstKey(of: fields.node)
            checker.error(
                "E210", from: start, to: end, alias: fields.node.alias,
                "give one of \"uuid\", \"serial\", \"address\" and \"nickname\"")
            return nil
        }
        guard let text = fields.string(key.text), let node = fields.node(key.text) else { return nil }
        switch key.text {
        case "uuid":
            guard text.utf8.count == 32, text.utf8.allSatisfy(isHexadecimal) else {
                checker.error(
                    "E203", at: node, "\"\(checker.shown(text))\" is not a uuid",
                    hint: "write its 32 hexadecimal digits")
                return nil
            }
            return .uuid(text.lowercased())
        case "serial": return readSerial(text, node)
        case "address": return readAddress(text, node)
        default:
            guard !text.isEmpty else {
                checker.error("E203", at: node, "a nickname cannot be empty")
                return nil
            }
            checker.warning("W701", at: key, "a nickname can be changed on the phone", hint: "prefer serial or uuid")
            return .nickname(text)
        }
    }

    private mutating func readSerial(_ text: String, _ node: YAMLNode) -> DeclaredButton.Hardware? {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isSerial =
            parts.map(\.count) == [4, 6]
            && parts.joined().allSatisfy { (0x41...0x5A).contains($0) || YAMLNumber.isDigit($0) }
        guard isSerial else {
            checker.error(
                "E203", at: node, "\"\(checker.shown(text))\" is not a serial number",
                hint: "it looks like BF12-C34567, in capital letters")
            return nil
        }
        return .serial(text)
    }

    private mutating func readAddress(_ text: String, _ node: YAMLNode) -> DeclaredButton.Hardware? {
        guard let address = BluetoothAddress(text) else {
            checker.error(
                "E203", at: node, "\"\(checker.shown(text))\" is not a Bluetooth address",
                hint: "it looks like 80:E4:DA:01:02:03")
            return nil
        }
        return .address(ButtonID(address))
    }

    private func isHexadecimal(_ octet: UInt8) -> Bool {
        YAMLNumber.isDigit(octet) || (0x61...0x66).contains(octet) || (0x41...0x46).contains(octet)
    }

    // MARK: Queued policy

    mutating func readQueuedPolicy(_ node: YAMLNode) -> QueuedPolicy? {
        if case .mapping = node.content {
            guard let fields = checker.fields(node, .queued, owner: "\"queued\"") else { return nil }
            return fields.duration("max_age").map {
                .limited(maximumAge: $0, keepLast: fields.string("keep") == "last")
            }
        }
        guard let text = checker.text(node, key: "queued", .areForbidden)?.string else { return nil }
        switch text {
        case "drop": return .drop
        case "accept": return .accept
        default:
            let hint =
                text == "true" || text == "false"
                ? "drop, accept or {max_age: …}; for runs one after another write mode: queued"
                : checker.nearest(to: text, among: ["drop", "accept"]).map { "did you mean \($0)?" }
            checker.error(
                "E204", at: node, "\"queued\" must be drop, accept or {max_age: …}, not \"\(checker.shown(text))\"",
                hint: hint)
            return nil
        }
    }
}
