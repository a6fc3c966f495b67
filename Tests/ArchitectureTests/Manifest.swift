/// The dependencies of each Swift module in `Package.swift`, read from its text, because SwiftPM would wait for the
/// build that runs this test.
struct Manifest {
    /// Modules under `Sources/` and the targets and products each one names.
    private(set) var dependencies: [String: Set<String>] = [:]

    init(_ text: String) {
        var source = text.split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
            .joined(separator: "\n")
        // Named lists of dependencies are put where they are used.
        for list in source.matches(of: /let (\w+): \[Target\.Dependency\] = \[([^\]]*)\]/) {
            source = source.replacing("dependencies: \(list.1)", with: "dependencies: [\(list.2)]")
        }
        // `.target(` of something that is no module names a `path:` or is C, and then has no `swiftSettings:`.
        for call in source.matches(of: /(?:\bmodule|\.target|\.executableTarget)\(/) {
            let arguments = Manifest.balanced(source[call.range.upperBound...])
            let isModule = source[call.range] == "module(" || arguments.contains("swiftSettings:")
            guard isModule, !arguments.contains("path:") else { continue }
            let names = arguments.replacing(/package: "[^"]*"|(?:plugins|exclude): \[[^\]]*\]/, with: "").matches(
                of: /"([\w-]+)"/
            )
            .map { String($0.1) }
            guard let name = names.first else { continue }
            dependencies[name] = Set(names.dropFirst())
        }
    }

    /// The text up to the parenthesis that closes the one just opened.
    private static func balanced(_ text: Substring) -> Substring {
        var depth = 1
        for index in text.indices {
            switch text[index] {
            case "(": depth += 1
            case ")": depth -= 1
            default: break
            }
            if depth == 0 { return text[..<index] }
        }
        return text
    }
}
