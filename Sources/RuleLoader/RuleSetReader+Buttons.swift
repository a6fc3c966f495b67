import ButtonModel
import Diagnostics
import Expressions
import Rules
import YAMLFiles

extension RuleSetReader {
    mutating func readButtons(_ node: YAMLNode) {
        forEachDeclared(
            node, key: "buttons", \.buttonNames, as: "button", root: .buttons, example: "kitchen: BF12-C34567"
        ) { reader, entry, name in
            guard let button = reader.readButton(entry) else { return false }
            let index = reader.ruleSet.buttons.count
            reader.note(button.hardware, of: entry.key, as: name == nil ? nil : index)
            guard name != nil else { return false }
            reader.buttons[button.name] = index
            reader.scope.buttons[button.name] = index
            if let mode = button.triggerMode, reader.firstFixed[mode] == nil { reader.firstFixed[mode] = index }
            reader.ruleSet.buttons.append(button)
            reader.contents.buttons.append((button.name, entry.value))
            return true
        }
    }

    /// Records the name of a piece of hardware, and reports a second name for it (E303).
    private mutating func note(_ description: DeclaredButton.Hardware, of key: YAMLNode.Key, as button: Int?) {
        if let before = hardware[description] {
            checker.error(
                "E303", at: key,
                "the button declared as \"\(key.text)\" already has a name, at \(before.declaration.text)")
        } else if let button {
            let declaration = DeclaredNames.Declaration(noun: "button", file: checker.source.name, position: key.start)
            hardware[description] = (button, declaration)
        }
    }

    private mutating func readButton(_ entry: YAMLNode.Entry) -> DeclaredButton? {
        let node = entry.value
        let name = entry.key.text
        if case .scalar = node.content {
            guard let text = checker.text(node, key: name, .areForbidden)?.string else { return nil }
            return readShortForm(text, node).map {
                DeclaredButton(name: name, hardware: $0, location: location(of: entry.key))
            }
        }
        guard let fields = checker.fields(node, .button, owner: .init("button", named: name)) else { return nil }
        let queued = fields.node("queued").flatMap { readQueuedPolicy($0) }
        guard let hardware = readHardware(fields),
            !fields.isWritten("model") || fields.string("model") != nil,
            !fields.isWritten("trigger_mode") || fields.string("trigger_mode") != nil
        else { return nil }
        return DeclaredButton(
            name: name, hardware: hardware,
            model: fields.string("model").flatMap(FlicModel.init(rawValue:)) ?? .flic2,
            triggerMode: fields.string("trigger_mode").flatMap(TriggerMode.init(rawValue:)),
            holdAfter: fields.duration("hold_after") ?? DeclaredButton.standardHoldAfter,
            clickGap: fields.duration("click_gap") ?? DeclaredButton.standardClickGap, queued: queued,
            location: location(of: entry.key))
    }

    /// Reads a button that is declared by a single text: a uuid, an address or a serial number, told apart by form.
    private mutating func readShortForm(_ text: String, _ node: YAMLNode) -> DeclaredButton.Hardware? {
        let text = checker.identity(text)
        // No button has this nickname, unless the value is a nickname, for which a recording has the same placeholder.
        if checker.isPlaceholder(text) { return .nickname(text) }
        if text.utf8.count == 32, text.utf8.allSatisfy(isHexadecimal) { return .uuid(text.lowercased()) }
        if text.contains(":") { return readAddress(text, node) }
        return readSerial(text, node)
    }

    /// Reads the key that identifies a button. Reports E210 when there is none or more than one.
    mutating func readHardware(_ fields: CheckedMapping) -> DeclaredButton.Hardware? {
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
        guard let text = fields.string(key.text).map(checker.identity), let node = fields.node(key.text) else {
            return nil
        }
        if checker.isPlaceholder(text) { return .nickname(text) }
        switch key.text {
        case "uuid":
            guard text.utf8.count == 32, text.utf8.allSatisfy(isHexadecimal) else {
                checker.error(
                    "E203", at: node, "\"\(checker.shown(text, of: node))\" is not a uuid",
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
        guard RuleSetReader.isSerial(text) else {
            checker.error(
                "E203", at: node, "\"\(checker.shown(text, of: node))\" is not a serial number",
                hint: Hint(
                    "it looks like BF12-C34567, in capital letters",
                    RuleSetReader.isSerial(text.uppercased()) ? [.init(nil, text.uppercased())] : []))
            return nil
        }
        return .serial(text)
    }

    private static func isSerial(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == [4, 6]
            && parts.joined().allSatisfy { (0x41...0x5A).contains($0) || YAMLNumber.isDigit($0) }
    }

    private mutating func readAddress(_ text: String, _ node: YAMLNode) -> DeclaredButton.Hardware? {
        guard let address = BluetoothAddress(text) else {
            checker.error(
                "E203", at: node, "\"\(checker.shown(text, of: node))\" is not a Bluetooth address",
                hint: "it looks like 80:E4:DA:01:02:03")
            return nil
        }
        return .address(ButtonID(address))
    }

    private func isHexadecimal(_ octet: UInt8) -> Bool {
        YAMLNumber.isDigit(octet) || (0x61...0x66).contains(octet) || (0x41...0x46).contains(octet)
    }
}
