import ArgumentParser

/// The option `--only` of benchmarks that have parts.
struct PartOptions<Part: CaseIterable & RawRepresentable<String> & Sendable>: ParsableArguments {
    @Option(help: "What to measure: \(Self.words). The default is all of them.")
    var only: String?

    /// The parts that were asked for, in that order. `validate` has checked that they exist.
    var chosen: [Part] { named.compactMap(\.self) }

    func validate() throws {
        guard !named.contains(where: { $0 == nil }) else { throw ValidationError("--only takes \(Self.words)") }
    }

    private var named: [Part?] {
        only?.split(separator: ",", omittingEmptySubsequences: false).map { Part(rawValue: String($0)) }
            ?? Part.allCases.map(\.self)
    }

    private static var words: String { Part.allCases.map(\.rawValue).joined(separator: ", ") }
}
