/// A connection limit for each owner of a server's clients, such as a user or an IP address.
///
/// An owner may open another connection while it has fewer than are free. The first owner therefore gets at most half
/// of all connections, the second half of the remainder, and so on. An owner without a connection is refused only if
/// none is free.
package struct ClientShare: Hashable, Sendable {
    package let places: Int

    package init(places: Int) { self.places = places }

    /// Whether an owner that holds `held` of the `taken` connections may open another.
    package func admits(holding held: Int, of taken: Int) -> Bool { held < places - taken }

    /// The maximum number of connections of one owner.
    package var largest: Int { (places + 1) / 2 }
}
