package import FlicdProtocol

/// What the edge that flicd's clients connect to reports.
package enum FlicdReport: Hashable, Sendable {
    /// `warning`: what is to be said about the address, a sentence for people.
    case listening(String, warning: String?)
    /// A sentence for people. It is tried again.
    case notListening(String)
    /// `peer`: its address, for people.
    case connected(FlicdServer.ClientID, peer: String)
    case received(FlicdServer.ClientID, [UInt8])
    /// The client writes no more.
    case finished(FlicdServer.ClientID)
    /// The socket does not take all of what was sent, and later has.
    case blocked(FlicdServer.ClientID)
    case drained(FlicdServer.ClientID)
    case gone(FlicdServer.ClientID)
}

/// What that edge is to do.
package enum FlicdOrder: Hashable, Sendable {
    /// Answer with `listening` or `notListening`.
    case listen
    case send(FlicdServer.ClientID, [UInt8])
    /// Read no more of it, until `resume`.
    case pause(FlicdServer.ClientID)
    case resume(FlicdServer.ClientID)
    /// `isWritten`: when what was sent is written.
    case close(FlicdServer.ClientID, isWritten: Bool)
}
