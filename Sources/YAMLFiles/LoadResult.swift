package import Diagnostics

/// The result of loading files: a value, and diagnostics.
package struct LoadResult<Value: Sendable>: Sendable {
    /// `nil` when a diagnostic is an error; warnings leave the value.
    package var value: Value?
    /// The part that could be read, even if there are errors.
    package let readable: Value
    /// False if one of the files could not be read or is not valid YAML. What it declares is missing in `readable`.
    package let isComplete: Bool
    /// In source order.
    package var diagnostics: [Diagnostic]
    /// For each file, the programs that it names, with the warning for the case that a program is not found.
    private var warnings: [[String: Diagnostic]]

    package init(
        _ value: Value, _ diagnostics: [Diagnostic], programs: [[String: Diagnostic]] = [], isComplete: Bool = true
    ) {
        readable = value
        self.isComplete = isComplete
        self.value = diagnostics.contains { $0.severity == .error } ? nil : value
        self.diagnostics = diagnostics.inSourceOrder()
        warnings = programs
    }

    /// The programs that the files name, which must be in the fixed search path.
    package var programs: Set<String> { warnings.reduce(into: []) { $0.formUnion($1.keys) } }

    /// Adds the warnings about programs that were not found.
    package mutating func report(missing programs: Set<String>) {
        guard !programs.isEmpty else { return }
        let found = warnings.flatMap { $0.filter { programs.contains($0.key) }.values }
        diagnostics = (diagnostics + found).inSourceOrder()
    }
}
