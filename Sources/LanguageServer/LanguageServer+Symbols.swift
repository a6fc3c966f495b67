import JSON
import RuleLoader
import YAMLFiles

extension LanguageServer {
    /// The most symbols of one answer about all files.
    private static let maximumSymbols = 500

    mutating func documentSymbols(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        let (path, document) = try document(parameters)
        if document.kind == .configuration {
            let file = SourceFile(name: path, text: document.octets)
            let outline = outlines.outline(of: file).outline ?? outlines.lastValidOutline(of: path)
            return .array((outline?.settingSymbols ?? []).map { json($0, document.lines) })
        }
        // While a line is half written, the editor keeps the symbols of the last valid text.
        guard let outline = outline(of: path, document) ?? outlines.lastValidOutline(of: path) else { return [] }
        return .array(outline.symbols.map { json($0, document.lines) })
    }

    private func json(_ symbol: FileSymbol, _ lines: TextLines) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(symbol.name)), .init("kind", .integer(symbol.kind.number)),
            .init("range", range(symbol.start, max(symbol.end, symbol.nameEnd), lines)),
            .init("selectionRange", range(symbol.nameStart, symbol.nameEnd, lines)),
        ]
        if let detail = symbol.detail, !detail.isEmpty { members.append(.init("detail", .string(detail))) }
        if !symbol.children.isEmpty {
            members.append(.init("children", .array(symbol.children.map { json($0, lines) })))
        }
        return .object(members)
    }

    /// The symbols of all sets whose names contain the query.
    mutating func workspaceSymbols(_ parameters: JSONValue) -> JSONValue {
        let query = (parameters["query"]?.stringValue ?? "").lowercased()
        var symbols: [JSONValue] = []
        var paths: Set<String> = []
        for path in documents.keys.sorted() where documents[path]?.kind == .rules {
            for file in files(of: path) where paths.insert(file.name).inserted {
                let (outline, lines) = outlines.outline(of: file)
                for section in outline?.symbols ?? [] {
                    for symbol in section.children where query.isEmpty || symbol.name.lowercased().contains(query) {
                        guard symbols.count < Self.maximumSymbols else { return .array(symbols) }
                        symbols.append([
                            "name": .string(symbol.name), "kind": .integer(symbol.kind.number),
                            "containerName": .string(section.name),
                            "location": [
                                "uri": .string(uri(of: documentPath(of: file, file.name))),
                                "range": range(symbol.nameStart, symbol.nameEnd, lines),
                            ],
                        ])
                    }
                }
            }
        }
        return .array(symbols)
    }
}

extension FileSymbol.Kind {
    /// The `SymbolKind` of the protocol.
    fileprivate var number: Int64 {
        switch self {
        case .section: 2
        case .button: 19
        case .group: 18
        case .state: 8
        case .variable: 13
        case .script: 12
        case .rule: 24
        case .test: 6
        case .setting: 7
        }
    }
}
