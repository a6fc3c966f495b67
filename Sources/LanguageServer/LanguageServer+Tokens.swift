import Diagnostics
import Expressions
import JSON
import RuleLoader

extension LanguageServer {
    /// The types of the words of expressions, in the order of `number(of:)`.
    static let tokenTypes: [JSONValue] = ["namespace", "variable", "property", "function"]

    /// The words of all expressions, so that an editor can color them inside of texts.
    ///
    /// Each word is five numbers: the lines and characters since the word before, its length, its type, and no modifiers.
    mutating func semanticTokens(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        let (path, document) = try document(parameters)
        guard let outline = outline(of: path, document) else { return .null }
        var data: [JSONValue] = []
        var last = TextLines.Position(line: 0, character: 0)
        for (word, start, end) in outline.expressionWords {
            let first = document.lines.position(of: start, client.encoding)
            let after = document.lines.position(of: end, client.encoding)
            guard first.line == after.line, first >= last, after > first else { continue }
            let isSameLine = first.line == last.line
            data += [
                first.line - last.line, isSameLine ? first.character - last.character : first.character,
                after.character - first.character, Self.number(of: word), 0,
            ].map { .integer(Int64($0)) }
            last = first
        }
        return ["data": .array(data)]
    }

    private static func number(of word: ExpressionWord) -> Int {
        switch word.kind {
        case .root: 0
        case .declared: 1
        case .field: 2
        case .function: 3
        }
    }
}
