extension Sequence<Diagnostic> {
    /// Sorts by file, in order of first appearance, then by position. Diagnostics with equal positions keep their
    /// order.
    public func inSourceOrder() -> [Diagnostic] {
        var files: [String: Int] = [:]
        let numbered = enumerated().map { offset, diagnostic in
            if files[diagnostic.file] == nil { files[diagnostic.file] = files.count }
            return (file: files[diagnostic.file] ?? 0, offset: offset, diagnostic: diagnostic)
        }
        return numbered.sorted {
            ($0.file, $0.diagnostic.start, $0.offset) < ($1.file, $1.diagnostic.start, $1.offset)
        }.map(\.diagnostic)
    }
}
