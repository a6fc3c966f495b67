import Platform

/// The socket of `tryck-web` on which `tryck web` asks for a link to the page. Who may open it, may sign in.
package enum LinkSocket {
    package static let name = "web.sock"
    package static let systemPath = "/run/tryck-web/\(name)"

    /// The paths to try, in this order.
    ///
    /// - Parameter controlSocket: the daemon's socket, if it was chosen or configured. Its directory is then the only one,
    ///   because the page of that daemon listens there.
    package static func candidates(controlSocket: String?, environment: [String: String]) -> [String] {
        if let controlSocket { return [SystemEnvironment.directory(of: controlSocket) + "/" + name] }
        let own = environment["XDG_RUNTIME_DIR"].flatMap { $0.isEmpty ? nil : "\($0)/tryck/\(name)" }
        return (SystemEnvironment.isRoot ? [systemPath] : []) + (own.map { [$0] } ?? [])
            + (SystemEnvironment.isRoot ? [] : [systemPath])
    }
}
