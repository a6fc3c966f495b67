import ButtonModel
import Diagnostics
import Expressions
import Settings
import YAMLFiles

extension MappingTable {
    static let simulatorFile = MappingTable(
        name: "the simulator file", keys: [Key("buttons", .anything, required: true, "the buttons by name")])

    static let simulatorButton = MappingTable(
        name: "a simulated button",
        keys: [
            Key("model", .oneOf(FlicModel.pairable.map(\.rawValue)), ""),
            Key("address", .text(.areText), "`80:E4:DA:00:00:01`"),
            Key("serial", .text(.areText), "`BA00-K00001`"),
            Key("uuid", .text(.areText), "32 hexadecimal digits"),
            Key("nickname", .text(.areText), "at most 23 octets"),
            Key("firmware", .integer(0...Int(UInt32.max)), "the firmware version, a number"),
            Key("battery", .integer(0...10_000), "millivolts"),
            Key("public", .boolean, "begins in public mode"),
        ])
}

enum SimulatorReader {
    static func load(_ file: SourceFile) -> LoadResult<[SimulatorButton]> {
        let document = Document(file, in: FileInputs(), FileLanguage(file: .simulatorFile))
        var checker = document.checker
        var buttons: [SimulatorButton] = []
        if let root = document.root, let fields = checker.fields(root, .simulatorFile),
            let node = fields.node("buttons")
        {
            buttons = read(node, &checker)
        } else if document.root == nil, !checker.hasErrors {
            checker.error(
                "E202", from: .start, to: .start.advanced(by: 1), "the simulator file has no \"buttons\"",
                hint: "add buttons: to it")
        }
        return LoadResult(buttons, checker.diagnostics)
    }

    private static func read(_ node: YAMLNode, _ checker: inout Checker) -> [SimulatorButton] {
        guard case .mapping(let entries) = node.content else {
            checker.noMapping(
                "E203", at: node, "\"buttons\" must be a mapping of name to button", hint: "write kitchen: {}")
            return []
        }
        var buttons: [SimulatorButton] = []
        var addresses: [BluetoothAddress: SourcePosition] = [:]
        for entry in entries {
            let key = entry.key
            guard checker.checkName(key.text, isPlain: key.isPlain, from: key.start, to: key.end, alias: key.alias)
            else { continue }
            guard !entry.value.isNull else {
                checker.error(
                    "E114", at: key, "\"\(key.text)\" has no value", hint: "write {} to derive everything from the name"
                )
                continue
            }
            guard let fields = checker.fields(entry.value, .simulatorButton) else { continue }
            var button = SimulatorButton(name: key.text, model: fields.string("model").flatMap(FlicModel.init))
            button.serial = fields.string("serial")
            button.nickname = fields.string("nickname")
            button.firmware = fields.integer("firmware").flatMap(UInt32.init(exactly:))
            button.batteryMillivolts = fields.integer("battery")
            button.isPublic = fields.boolean("public")
            if let text = fields.string("uuid"), let node = fields.node("uuid") {
                if text.utf8.count == 32, text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) {
                    button.uuid = text.lowercased()
                } else {
                    checker.error(
                        "E203", at: node, "\"\(checker.shown(text))\" is not a uuid",
                        hint: "it has 32 hexadecimal digits, without hyphens")
                }
            }
            if let text = fields.string("address"), let node = fields.node("address") {
                button.address = BluetoothAddress(text)
                if button.address == nil {
                    checker.error(
                        "E203", at: node, "\"\(checker.shown(text))\" is not a Bluetooth address",
                        hint: "it looks like 80:E4:DA:01:02:03")
                }
            }
            if let address = button.address, let node = fields.node("address") {
                if let first = addresses[address] {
                    checker.error(
                        "E303", at: node,
                        "address \(address) is already used at \(file(checker)):\(first.line):\(first.column)")
                } else {
                    addresses[address] = node.start
                }
            }
            if let nickname = button.nickname, nickname.utf8.count > 23, let node = fields.node("nickname") {
                checker.error("E205", at: node, "a nickname has at most 23 octets, not \(nickname.utf8.count)")
            }
            buttons.append(button)
        }
        return buttons
    }

    private static func file(_ checker: Checker) -> String { checker.source.name }
}
