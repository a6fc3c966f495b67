import ButtonModel
import Expressions
import JSON
import Rules
import YAMLFiles

extension StepKind {
    var language: StepLanguage {
        switch self {
        case .publish: .publish
        case .run: .run
        case .shell: .shell
        case .http: .http
        case .delay: .delay
        case .wait: .wait
        case .waitFor: .waitFor
        case .set: .set
        case .cycle: .cycle
        case .repeat: .repeat
        case .if: .if
        case .choose: .choose
        case .script: .script
        case .enable: .enable
        case .disable: .disable
        case .cancel: .cancel
        case .log: .log
        case .stop: .stop
        }
    }
}

/// A kind of step as a template, for completion.
package struct StepSnippet: Sendable {
    package var name: String
    package var summary: String
    /// In the snippet syntax of editors. The lines after the first are indented relative to the first.
    package var body: String

    /// - Parameter button: the button that the templates name.
    package static func all(button: String) -> [StepSnippet] {
        StepKind.allCases.map { kind in
            StepSnippet(
                name: kind.rawValue, summary: kind.language.summary,
                body: kind.language.snippet.replacing("${1:button}", with: "${1:\(button)}"))
        }
    }
}

// MARK: - Derived tables

extension StepKind {
    /// The companion keys of all kinds of steps, each with the kinds that have it.
    static let companions: [(key: String, kinds: [StepKind])] = {
        var names: [String] = []
        for name in allCases.flatMap({ $0.language.companions.map(\.key.name) }) where !names.contains(name) {
            names.append(name)
        }
        return names.map { name in
            (name, allCases.filter { kind in kind.language.companions.contains { $0.key.name == name } })
        }
    }()

    /// The message for a companion key without a step that has it: `"else" belongs beside "wait" or "if"`.
    static func place(ofCompanion key: String, _ kinds: [StepKind]) -> String {
        "\"\(key)\" belongs beside " + kinds.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
    }

    /// The keys of all kinds of steps, each with its companions.
    static let keys: [MappingTable.Key] = {
        var keys: [MappingTable.Key] = []
        for key in allCases.flatMap({ kind in [kind.key] + kind.language.companions.map(\.key) })
        where !keys.contains(where: { $0.name == key.name }) {
            keys.append(key)
        }
        return keys
    }()

    static let details: [String: KeyDetail] = {
        let details = allCases.flatMap { kind in
            [(kind.rawValue, kind.language.detail)] + kind.language.companions.map { ($0.key.name, $0.detail) }
        }
        return Dictionary(details) { first, _ in first }
    }()

    private var key: MappingTable.Key { MappingTable.Key(rawValue, language.type, language.summary) }

    /// The kinds whose actions a test can expect.
    static let expected = allCases.filter { $0.language.expectation != nil }

    /// The keys of an expected effect, one for each kind.
    static let expectedKeys = expected.map { kind in
        MappingTable.Key(kind.rawValue, .anything, kind.language.expectation?.summary ?? "")
    }

    static let expectedDetails = Dictionary(
        uniqueKeysWithValues: expected.compactMap { kind in
            kind.language.expectation.map { (kind.rawValue, $0.detail) }
        })

    /// The kinds for which `isListed` is true, as messages list them: `run, shell and http`.
    static func listed(_ isListed: (StepKind) -> Bool) -> String { listed(allCases.filter(isListed).map(\.rawValue)) }

    /// Names as messages list them: `run, shell and http`.
    static func listed(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }

    /// The time limits as the reference lists them, from the shortest.
    static let timeLimits: String = {
        let limits = Set(allCases.compactMap(\.timeLimit)).sorted()
        return limits.map { limit in
            let names = allCases.filter { $0.timeLimit == limit }.map { "`\($0.rawValue)`" }
            return listed(names) + " `\(Expressions.DurationText.text(milliseconds: limit.milliseconds))`"
        }.joined(separator: ", ")
    }()
}
