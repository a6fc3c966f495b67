import JSON

/// A payload from which the states of one topic take their values.
enum StatePayload {
    /// - Parameter values: by JSON Pointer; the empty one is the whole payload.
    static func octets(of values: [String: JSONValue]) -> [UInt8] {
        if let whole = values[""] { return Array((whole.stringValue ?? whole.description).utf8) }
        var root = JSONValue.object([])
        for (pointer, value) in values.sorted(by: { $0.key < $1.key }) {
            let path = pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
                (name) -> String in
                String(name).replacing("~1", with: "/").replacing("~0", with: "~")
            }
            root = put(value, at: path[...], in: root)
        }
        return root.encoded()
    }

    private static func put(_ value: JSONValue, at path: ArraySlice<String>, in node: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        var members = node.objectValue ?? []
        let index = members.firstIndex { $0.name == name }
        let inner = put(value, at: path.dropFirst(), in: index.map { members[$0].value } ?? .object([]))
        if let index { members[index].value = inner } else { members.append(.init(name, inner)) }
        return .object(members)
    }
}
