import CommandSupport
import Diagnostics
import Platform
import RuleLoader
import Rules
import YAMLFiles

extension BenchRuleFile {
    /// Loads a rule set that must not have errors.
    static func load(_ text: [UInt8]) throws(Failure) -> RuleSet {
        let loaded = FileLoader.rules(SourceFile(name: "bench.yaml", text: text), in: LoadInputs())
        guard let set = loaded.value else {
            let first = loaded.diagnostics.first { $0.severity == .error }
            throw Failure(.internalError, "The rules have errors: \(first?.message ?? ""). Please report it.")
        }
        return set
    }
}
