import Diagnostics
import Expressions
import JSON
import RuleLoader
import YAMLFiles

extension LanguageServer {
    /// The maximum length in octets of a file in which passwords are searched for, because editors request these changes
    /// with each movement of the cursor.
    private static let maximumSearchedLength = 128 << 10
    /// The maximum length in octets of a password that can be moved. Longer values are rarely written by hand.
    private static let maximumPasswordLength = 1_000

    /// Changes that move the passwords in clear in the line of a position to `secrets.yaml`.
    ///
    /// A change is offered only if the checker finds no new mistake afterwards. A `secrets.yaml` that does not exist is created
    /// if the editor can do that.
    func secretActions(_ path: String, _ document: OpenDocument, at position: SourcePosition) -> [JSONValue] {
        guard let set = set(of: path), let file = set.file(path), file.text == document.octets,
            file.text.count <= Self.maximumSearchedLength
        else { return [] }
        let lines = document.lines
        let line = lines.line(position.line - 1)
        // Most lines have no password, so the tree of the file is not needed.
        let places = PasswordPlaces.find(in: file.text).filter { $0.overlaps(line.startIndex..<line.endIndex) }
        guard !places.isEmpty || document.kind == .configuration, let outline = FileOutline(file) else { return [] }
        return outline.scalars(inLine: position.line).compactMap { scalar in
            let range = lines.offset(of: scalar.start)..<lines.offset(of: scalar.end)
            guard !scalar.text.isEmpty, scalar.text.utf8.count <= Self.maximumPasswordLength,
                !scalar.text.contains("{{"),
                places.contains(where: { $0.covers(range, in: file.text) })
                    || document.kind == .configuration && scalar.isKeyOfProxy
            else { return nil }
            return secretAction(scalar, range, set, file, path)
        }
    }

    private func secretAction(
        _ scalar: ScalarInFile, _ range: Range<Int>, _ set: CheckedSet, _ file: SourceFile, _ path: String
    ) -> JSONValue? {
        let secretsPath = set.secretsPath(for: file.name)
        let existing = set.secrets(for: file.name)
        guard existing != nil || client.createsFiles && client.hasDocumentChanges else { return nil }
        var secrets = existing ?? SourceFile(name: secretsPath, text: [])
        if let open = documents[secretsPath] { secrets.text = open.octets }
        let known = Set(FileOutline.secrets(in: secrets).map(\.name))
        let name = scalar.secretName(unlike: known)
        let place = TextLines(secrets.text).position(ofOffset: secrets.text.count, client.encoding).json
        let isAtLineStart = secrets.text.isEmpty || secrets.text.last == UInt8(ascii: "\n")
        // A string of JSON is a valid scalar of YAML in double quotes.
        let line = (isAtLineStart ? "" : "\n") + "\(name): \(JSONValue.string(scalar.text))\n"
        let addition = secrets.text.endsLinesWithCRLF ? line.withCRLF : line
        secrets.text += addition.utf8
        var text = file.text
        text.replaceSubrange(range, with: "!secret \(name)".utf8)
        let before = Set(set.diagnostics.filter { $0.severity == .error }.map(\.code))
        let after = set.diagnostics(replacing: file.name, with: text, secrets: secrets)
        guard !after.contains(where: { $0.severity == .error && !before.contains($0.code) }) else { return nil }
        let edit: JSONValue = [
            "range": self.range(scalar.start, scalar.end, TextLines(file.text)), "newText": .string("!secret \(name)"),
        ]
        let secretsEdit: JSONValue = ["range": ["start": place, "end": place], "newText": .string(addition)]
        let secretsDocument = documentPath(of: existing, secretsPath)
        var change = workspaceEdit([(path, edit), (secretsDocument, secretsEdit)])
        if existing == nil { change = Self.creating(uri(of: secretsPath), before: change) }
        // An editor creates files that others can read. W703 says so only once the file is saved with the password in it.
        let advice = existing == nil ? " (then run chmod 600 secrets.yaml)" : ""
        return [
            "title": .string("Move this password to secrets.yaml as \(name)\(advice)"), "kind": "refactor",
            "edit": change,
        ]
    }

    /// An edit that first creates a file.
    private static func creating(_ uri: String, before edit: JSONValue) -> JSONValue {
        let create: JSONValue = ["kind": "create", "uri": .string(uri), "options": ["ignoreIfExists": true]]
        return ["documentChanges": .array([create] + (edit["documentChanges"]?.arrayValue ?? []))]
    }
}

extension Range<Int> {
    /// True if the other range, apart from quotes around its text, is within this one.
    fileprivate func covers(_ other: Range<Int>, in text: [UInt8]) -> Bool {
        let quotes = [UInt8(ascii: "\""), UInt8(ascii: "'")]
        let isQuoted = text[other].first.map(quotes.contains) ?? false
        let inner = isQuoted && other.count >= 2 ? other.lowerBound + 1..<other.upperBound - 1 : other
        return lowerBound <= inner.lowerBound && inner.upperBound <= upperBound
    }
}

extension ScalarInFile {
    /// True for the key of an ESPHome proxy in `radios`.
    fileprivate var isKeyOfProxy: Bool { keys == ["radios", "key"] }

    /// A name for the secret that is not in `known`, made of the keys of the value: `mqtt_password`, `authorization_2`.
    fileprivate func secretName(unlike known: Set<String>) -> String {
        let words = keys.count == 2 ? keys : keys.suffix(1)
        let letters = words.joined(separator: "_").lowercased().unicodeScalars.map { scalar in
            ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) ? Character(scalar) : "_"
        }
        let name = String(letters.prefix(40))
        let base = name.first?.isLetter ?? false ? name : "password"
        var unique = base
        var number = 1
        while known.contains(unique) {
            number += 1
            unique = "\(base)_\(number)"
        }
        return unique
    }
}
