/// The meaning of a piece of text. `Style` decides how it looks.
package enum Ink: Hashable, Sendable {
    case plain
    case strong
    case faint
    case good
    case bad
    case doubtful
    case press
    case message
    case program

    /// Parameters of the terminal's "select graphic rendition".
    ///
    /// - Source: ECMA-48, 8.3.117.
    fileprivate var rendition: String? {
        switch self {
        case .plain: nil
        case .strong: "1"
        case .faint: "2"
        case .good: "32"
        case .bad: "31"
        case .doubtful: "33"
        case .press: "1;36"
        case .message: "35"
        case .program: "34"
        }
    }
}

/// How text looks on the screen.
package struct Style: Hashable, Sendable {
    package var usesColour: Bool
    /// True if characters beyond ASCII may be used.
    var usesUnicode: Bool
    /// Longer lines are cut off; `nil`: lines are never cut off.
    package var width: Int?

    /// For files and pipes.
    package static let plain = Style(usesColour: false, usesUnicode: true, width: nil)

    /// - Parameter environment: returns the value of an environment variable: `NO_COLOR`, `TERM`, and those of the
    ///   locale.
    init(isTerminal: Bool, width: Int?, environment: (String) -> String?) {
        let isDumb = environment("TERM") == "dumb"
        let isColourForbidden = environment("NO_COLOR").map { !$0.isEmpty } ?? false
        usesColour = isTerminal && !isDumb && !isColourForbidden
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let encoding = locale.lowercased()
        // The locale is only that of the terminal; programs that read a file expect UTF-8.
        usesUnicode = !isTerminal || encoding.contains("utf-8") || encoding.contains("utf8")
        self.width = isTerminal ? width : nil
    }

    init(usesColour: Bool, usesUnicode: Bool, width: Int?) {
        self.usesColour = usesColour
        self.usesUnicode = usesUnicode
        self.width = width
    }

    package var checkMark: String { usesUnicode ? "✓" : "ok" }
    package var cross: String { usesUnicode ? "✗" : "!!" }
    var ellipsis: String { usesUnicode ? "…" : "..." }
    package var bar: String { usesUnicode ? "│" : "|" }
    package var rule: String { usesUnicode ? "─" : "-" }

    fileprivate func paint(_ text: String, _ ink: Ink) -> String {
        guard usesColour, let rendition = ink.rendition, !text.isEmpty else { return text }
        return "\u{1B}[\(rendition)m\(text)\u{1B}[0m"
    }
}

/// A line of text in several inks.
package struct Line: Hashable, Sendable, ExpressibleByStringLiteral {
    struct Span: Hashable, Sendable {
        var text: String
        var ink: Ink
    }

    private(set) var spans: [Span] = []

    package init() {}
    package init(stringLiteral text: String) { append(text) }
    package init(_ text: String, _ ink: Ink = .plain) { append(text, ink) }

    /// Appends a text in which control characters become visible; see `String.visible`.
    package mutating func append(_ text: String, _ ink: Ink = .plain) {
        spans.append(Span(text: text.visible, ink: ink))
    }

    package static func + (line: Line, span: (String, Ink)) -> Line {
        var line = line
        line.append(span.0, span.1)
        return line
    }

    package static func + (line: Line, text: String) -> Line { line + (text, .plain) }

    package static func + (left: Line, right: Line) -> Line {
        var line = left
        line.spans += right.spans
        return line
    }

    /// The line as it is printed, without its line end.
    package func rendered(_ style: Style) -> String {
        var room = style.width ?? .max
        guard spans.reduce(0, { $0 + $1.text.columns }) > room else {
            return spans.map { style.paint($0.text, $0.ink) }.joined()
        }
        room = max(0, room - style.ellipsis.columns)
        var text = ""
        for span in spans {
            let kept = span.text.prefix(columns: room)
            room -= kept.columns
            text += style.paint(kept, span.ink)
            if kept.count < span.text.count { break }
        }
        return text + style.paint(style.ellipsis, .faint)
    }
}
