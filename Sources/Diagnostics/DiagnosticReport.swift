/// Renders a list of diagnostics for a person: each with its source line, carets, hint and notes, then a summary.
///
///     rules/home.yaml:14:15: error[E301]: unknown button "kitchn"
///        14 |     - button: kitchn
///           |               ^^^^^^ did you mean "kitchen"?
///       note: buttons are declared at rules/home.yaml:4:1
///
/// Editors and build tools parse the first line of each diagnostic. Only the first `maximumErrorsPerFile` errors of a
/// file are shown; the summary counts all.
public struct DiagnosticReport: Sendable {
    public static let maximumErrorsPerFile = 20
    /// In Unicode scalars. A longer line is cut to the part around the caret.
    static let maximumLineLength = 160

    private let diagnostics: [Diagnostic]
    private let sources: [String: [UInt8]]

    /// - Parameter sources: the content of each file, by the file name in the diagnostics. A diagnostic whose file is
    ///   missing here is shown without source line and carets.
    public init(_ diagnostics: [Diagnostic], sources: [String: [UInt8]]) {
        self.diagnostics = diagnostics.inSourceOrder()
        self.sources = sources
    }

    /// The first error in one line, without its source line: `home.yaml:14:15: error[E301]: unknown button "kitchn"`; empty if
    /// there is none.
    public var firstError: String {
        diagnostics.first { $0.severity == .error }.map { Self.line(of: $0) } ?? ""
    }

    /// Each of the first diagnostics in one line with its hint, for a log: `home.yaml:14:15: warning[W710]: … (hint)`.
    public var logLines: [String] {
        let shown = diagnostics.prefix(Self.maximumErrorsPerFile).map { diagnostic in
            Self.line(of: diagnostic) + (diagnostic.hint.map { " (\(TerminalText.line($0)))" } ?? "")
        }
        let more = diagnostics.count - shown.count
        return shown + (more > 0 ? ["and \(more) more"] : [])
    }

    private static func line(of diagnostic: Diagnostic) -> String {
        let place = "\(TerminalText.line(diagnostic.file)):\(diagnostic.start.line):\(diagnostic.start.column)"
        return "\(place): \(diagnostic.severity.rawValue)[\(diagnostic.code)]: \(TerminalText.line(diagnostic.message))"
    }

    /// The whole report; each line ends with a line feed.
    ///
    /// - Parameter colour: whether to add terminal escape sequences.
    public func text(colour: Bool = false) -> String {
        var text = ""
        var lines: [String: SourceLines] = [:]
        var shownErrors: [String: Int] = [:]
        var file: String?
        func endFile() {
            guard let file, let count = shownErrors[file], count > DiagnosticReport.maximumErrorsPerFile else { return }
            text += "\(TerminalText.line(file)): and \(count - DiagnosticReport.maximumErrorsPerFile) more\n"
        }
        for diagnostic in diagnostics {
            if diagnostic.file != file {
                endFile()
                file = diagnostic.file
                lines[diagnostic.file] = sources[diagnostic.file].map(SourceLines.init)
            }
            if diagnostic.severity == .error {
                shownErrors[diagnostic.file, default: 0] += 1
                if shownErrors[diagnostic.file, default: 0] > DiagnosticReport.maximumErrorsPerFile { continue }
            }
            text += diagnostic.rendered(
                line: lines[diagnostic.file]?.line(diagnostic.start.line), style: ReportStyle(colour: colour))
        }
        endFile()
        return text + (diagnostics.isEmpty ? "" : summary + "\n")
    }

    /// The number of errors and warnings: `2 errors, 1 warning.`
    public var summary: String {
        let errors = diagnostics.count { $0.severity == .error }
        let warnings = diagnostics.count - errors
        func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
        return switch (errors, warnings) {
        case (0, 0): "No errors."
        case (0, _): "\(count(warnings, "warning"))."
        case (_, 0): "\(count(errors, "error"))."
        default: "\(count(errors, "error")), \(count(warnings, "warning"))."
        }
    }
}

/// The lines of a file, looked up in ascending order.
private struct SourceLines {
    private var rest: ArraySlice<UInt8>
    /// The number of the line that `rest` begins with.
    private var number = 1

    init(_ octets: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        rest = octets.starts(with: mark) ? octets[3...] : octets[...]
    }

    /// - Parameter wanted: a line number, not below that of the previous call.
    mutating func line(_ wanted: Int) -> ArraySlice<UInt8>? {
        while number < wanted {
            guard let next = rest.afterFirstLine else { return nil }
            rest = next
            number += 1
        }
        return number == wanted ? rest.firstLine : nil
    }
}

/// The colours of a report, as terminal escape sequences.
struct ReportStyle {
    var colour: Bool

    func bold(_ text: String) -> String { colour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    func severity(_ text: String, _ severity: Diagnostic.Severity) -> String {
        guard colour else { return text }
        return "\u{1B}[1;\(severity == .error ? 31 : 35)m\(text)\u{1B}[0m"
    }
    func faint(_ text: String) -> String { colour ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}
