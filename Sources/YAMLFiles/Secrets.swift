package import Diagnostics
import Expressions

/// The content of `secrets.yaml`, a flat mapping of name to text. It is read once for all files of a set, and only if
/// one of them contains a `!secret`.
package struct Secrets {
    enum Lookup {
        case found(String)
        case missing(hint: Hint?)
        /// There is a file, and this user may not read it.
        case hidden
        /// The file or this value has errors, which are already reported.
        case unreadable
    }

    /// Diagnostics about the file. They do not quote its content.
    private(set) var diagnostics: [Diagnostic] = []
    private(set) var fileName = "secrets.yaml"
    private var hasFile = false
    private var values: [String: String] = [:]
    private var wrongNames: Set<String> = []
    private var isUnreadable = false
    private var isHidden = false

    /// The values of these names, with what stands for them in recordings.
    package func placeholders(of names: Set<String>) -> [String: String] {
        var placeholders: [String: String] = [:]
        for (name, value) in values where !value.isEmpty && names.contains(name) {
            let placeholder = Checker.placeholder(of: name)
            placeholders[value] = min(placeholders[value] ?? placeholder, placeholder)
        }
        return placeholders
    }

    /// The names that may follow `!secret` in a text, which may be no YAML, so that several places may be the end of a name. Together
    /// they are not much longer than the text.
    package static func names(in text: [UInt8]) -> Set<String> {
        var names: Set<String> = []
        var rest = text[...]
        while let tag = rest.firstIndex(of: UInt8(ascii: "!")) {
            rest = rest[tag...]
            guard rest.starts(with: "!secret".utf8) else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst("!secret".utf8.count).drop { " \t\r\n".utf8.contains($0) }
            names.insert(longestName(in: rest))
            if let quote = rest.first, "\"'".utf8.contains(quote) {
                rest = rest.dropFirst()
                let name = rest.prefix { $0 != quote && !"\r\n".utf8.contains($0) }
                names.insert(String(decoding: name, as: UTF8.self))
                // The search goes on in the name, because what looks like the second quote may be that of another text.
                if rest[name.endIndex...].first == quote { continue }
            }
            guard rest.first != UInt8(ascii: "!") else { continue }
            let name = rest.prefix { !" \t\r\n\"',:]}#".utf8.contains($0) }
            names.insert(String(decoding: name, as: UTF8.self))
            rest = rest[name.endIndex...]
        }
        return names
    }

    /// The rest of a line until something that ends a text without quotes, or until another `!secret`, so that no part of a file is
    /// read again for each of many tags; without single quotes around it.
    private static func longestName(in text: ArraySlice<UInt8>) -> String {
        var end = text.startIndex
        while end < text.endIndex, !",]}\r\n".utf8.contains(text[end]), !text[end...].starts(with: " #".utf8),
            !text[end...].starts(with: "!secret".utf8)
        {
            end += 1
        }
        var name = text[..<end]
        while let last = name.last, " \t".utf8.contains(last) { name.removeLast() }
        let quote = UInt8(ascii: "'")
        guard name.count >= 2, name.first == quote, name.last == quote else {
            return String(decoding: name, as: UTF8.self)
        }
        var octets: [UInt8] = []
        var isFirstOfTwo = false
        for octet in name.dropFirst().dropLast() {
            isFirstOfTwo = octet == quote && !isFirstOfTwo
            if !isFirstOfTwo { octets.append(octet) }
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// No secrets, for files without a `!secret`.
    init() {}

    package init(in inputs: FileInputs) {
        isHidden = inputs.areSecretsHidden
        guard let file = inputs.secrets, !inputs.hasPlaceholders else { return }
        hasFile = true
        fileName = file.name
        var withoutSecrets = inputs
        withoutSecrets.secrets = nil
        var document = Document(file, in: withoutSecrets, .unknown)
        if file.isReadableByOthers {
            diagnostics = [
                Diagnostic(
                    severity: .warning, code: "W703", file: file.name, start: .start, end: .start,
                    message: "\(file.name) can be read by other users", hint: "chmod 600 \(file.name)",
                    isConfidential: true)
            ]
        }
        read(&document)
        diagnostics += document.checker.diagnostics.map { $0.withoutContent }
    }

    func value(of name: String) -> Lookup {
        guard hasFile else {
            return isHidden
                ? .hidden
                : .missing(hint: "create secrets.yaml beside the file, with a line  \(Checker.shown(name)): THE SECRET")
        }
        if let value = values[name] { return .found(value) }
        if isUnreadable || wrongNames.contains(name) { return .unreadable }
        let near = Suggestions.nearest(to: name, among: values.keys.sorted())
        return .missing(hint: near.map { .meant($0) })
    }

    private mutating func read(_ document: inout Document) {
        guard let root = document.root else {
            isUnreadable = document.checker.hasErrors
            return
        }
        guard case .mapping(let entries) = root.content else {
            document.checker.error("E203", at: root, "secrets must be a mapping of name to text")
            isUnreadable = true
            return
        }
        for entry in entries {
            let name = entry.key.text
            if let meant = document.checker.reportsMissingSpace(entry) {
                wrongNames.insert(meant)
            } else if document.checker.reportsNull(entry) {
                wrongNames.insert(name)
            } else if let text = document.checker.text(entry.value, key: name, .areText) {
                values[name] = text.string
            } else {
                wrongNames.insert(name)
            }
        }
    }
}

extension Diagnostic {
    /// The diagnostic without the line of the file, and without the words that some messages quote from it.
    package var withoutContent: Diagnostic {
        var diagnostic = self
        diagnostic.isConfidential = true
        diagnostic.changes = []
        switch code {
        case "E105":
            diagnostic.message = "unknown tag"
            diagnostic.hint = "quote text that begins with !"
        case "E106":
            diagnostic.message = "alias is not defined"
            diagnostic.hint = "quote text that begins with *"
        case "E101" where message == MissingSpace.message: diagnostic.hint = "write key: value"
        case "E111": diagnostic.message = "put quotes around the template"
        default: break
        }
        return diagnostic
    }
}
