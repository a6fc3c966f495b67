package import FlicdProtocol

/// An event of the listening socket for flicd clients, or of a client's connection.
package enum FlicdReport: Hashable, Sendable {
    /// - Parameter warning: a sentence for users about the address, for example that other machines can reach it.
    case listening(String, warning: String?)
    /// The reason, as a sentence for users. Listening is tried again.
    case notListening(String)
    /// - Parameter peer: the client's address, for messages.
    case connected(FlicdServer.ClientID, peer: String)
    case received(FlicdServer.ClientID, [UInt8])
    /// The client has shut down its sending side.
    case finished(FlicdServer.ClientID)
    /// The socket did not accept all octets sent; they wait in a buffer until `drained`.
    case blocked(FlicdServer.ClientID)
    case drained(FlicdServer.ClientID)
    case gone(FlicdServer.ClientID)
}

/// A command to the listening socket for flicd clients, or to a client's connection.
package enum FlicdOrder: Hashable, Sendable {
    /// Answered with `listening` or `notListening`.
    case listen
    case send(FlicdServer.ClientID, [UInt8])
    /// Stops reading from the client until `resume`.
    case pause(FlicdServer.ClientID)
    case resume(FlicdServer.ClientID)
    /// - Parameter isWritten: whether to close only after everything sent so far is written.
    case close(FlicdServer.ClientID, isWritten: Bool)
}
