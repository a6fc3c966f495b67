/// A connection limit for each owner of a server's clients, such as a user or an IP address.
///
/// An owner may open another connection while it has fewer than are free. The first owner therefore gets at most half
/// of all connections, the second half of the remainder, and so on. An owner without a connection is refused only if
/// none is free.
package struct ConnectionLimit: Hashable, Sendable {
    package let capacity: Int

    package init(capacity: Int) { self.capacity = capacity }

    /// True if an owner that holds `owned` of the `total` connections may open another.
    package func admits(owned: Int, total: Int) -> Bool { owned < capacity - total }
}
