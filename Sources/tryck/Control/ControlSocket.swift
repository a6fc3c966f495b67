/// Where a daemon may listen.
enum ControlSocket {
    static let systemPath = "/run/tryck/control.sock"

    /// The places to try, first one first.
    ///
    /// - Parameters:
    ///   - chosen: what `--control-socket` said; nothing else is tried then.
    ///   - runtimeDirectory: `$XDG_RUNTIME_DIR`.
    static func candidates(chosen: String?, runtimeDirectory: String?) -> [String] {
        if let chosen { return [chosen] }
        let own = runtimeDirectory.flatMap { $0.isEmpty ? nil : "\($0)/tryck/control.sock" }
        return [systemPath] + (own.map { [$0] } ?? [])
    }
}
