import Diagnostics
import Expressions
import Rules
import YAMLFiles

/// Groups as they are written, with names of members that are not yet resolved.
struct UnresolvedGroups {
    struct Group {
        var name: String
        var document: Int
        var members: [(name: String, node: YAMLNode)]
    }

    var list: [Group] = []
}

extension RuleSetReader {
    /// The most buttons in all groups together, and in all triggers when their groups are expanded.
    static let maximumMembers = 1_000_000

    mutating func readGroups(_ node: YAMLNode, _ groups: inout UnresolvedGroups) {
        var found: [UnresolvedGroups.Group] = []
        forEachDeclared(
            node, key: "groups", \.buttonNames, as: "group", root: nil, example: "bedroom: [bed_left, bed_right]"
        ) { reader, entry, name in
            if case .mapping = entry.value.content {
                reader.checker.error(
                    "E203", at: entry.value,
                    "group \"\(reader.checker.shown(entry.key.text))\" must be a list of buttons",
                    hint: "write [\(reader.exampleButtons)]")
                return false
            }
            var members: [(name: String, node: YAMLNode)] = []
            for node in reader.checker.oneOrMany(entry.value, empty: "an empty group has no button") {
                guard let member = reader.checker.plainText(node, key: "groups", wanted: "a button or a group") else {
                    continue
                }
                members.append((member, node))
            }
            guard let name else { return false }
            found.append(.init(name: name, document: reader.currentDocument, members: members))
            reader.contents.groups.append((name, entry.value))
            return true
        }
        groups.list += found
    }

    /// Resolves the members of groups to buttons. A group comes after the groups it contains.
    mutating func resolve(_ groups: UnresolvedGroups) {
        let list = groups.list
        let indices = Dictionary(list.indices.map { (list[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        var count = 0
        let dependencies = DependencyOrder(list.map { group in group.members.map { indices[$0.name] ?? -1 } })
        for circle in dependencies.cycles { report(circle, list) }
        for index in dependencies.order {
            let group = list[index]
            currentDocument = group.document
            var members: [Int] = []
            var known: Set<Int> = []
            for (name, node) in group.members {
                if let button = buttons[name] {
                    if known.insert(button).inserted { members.append(button) }
                } else if indices[name] != nil {
                    for button in ruleSet.groups[name] ?? [] where known.insert(button).inserted {
                        members.append(button)
                    }
                } else {
                    reportUnknownButton(name, node)
                }
                guard count + members.count <= RuleSetReader.maximumMembers else {
                    checker.error(
                        "E112", at: node, "groups hold more than \(RuleSetReader.maximumMembers) buttons together")
                    return
                }
            }
            count += members.count
            ruleSet.groups[group.name] = members
        }
    }

    private mutating func report(_ circle: [Int], _ list: [UnresolvedGroups.Group]) {
        guard circle.count >= 2, let first = circle.last else { return }
        let last = list[circle[circle.count - 2]]
        guard let node = last.members.first(where: { $0.name == list[first].name })?.node else { return }
        currentDocument = last.document
        let names = circle.prefix(20).map { list[$0].name }.joined(separator: " → ")
        checker.error(
            "E307", at: node,
            circle.count == 2
                ? "group \"\(list[first].name)\" contains itself" : "groups contain each other: \(names)")
    }

    /// Two buttons of the set for hints; `one, two` if it has no two.
    var exampleButtons: String {
        ruleSet.buttons.count < 2 ? "one, two" : ruleSet.buttons.prefix(2).map(\.name).joined(separator: ", ")
    }

    /// Reports a name that is neither a button nor a group (E301), unless its declaration is faulty.
    mutating func reportUnknownButton(_ name: String, _ node: YAMLNode) {
        guard buttonNames.isUnknown(name) else { return }
        let near = checker.nearest(to: name, among: buttonNames.declarations.keys.sorted())
        let shown = checker.shown(name)
        let hint: Hint? =
            if let near {
                .meant(near)
            } else if NameRules.isDeclarable(shown) {
                "declare it: buttons: {\(shown): SERIAL}; tryck buttons shows the serial numbers"
            } else {
                nil
            }
        let notes = buttonNames.first.map {
            [Diagnostic.Note(message: "buttons are declared", file: $0.file, position: $0.position)]
        }
        checker.error(
            "E301", from: node.start, to: node.end, alias: node.alias, "unknown button \"\(shown)\"", hint: hint,
            notes: notes ?? [])
    }
}
