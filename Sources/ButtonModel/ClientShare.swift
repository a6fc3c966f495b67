/// Decides whether an owner of clients, such as a user or an address, may have one more of the places there are.
///
/// An owner is admitted while it holds fewer places than are free. So the first owner gets at most half of all places, a
/// second one half of what the first left, and so on: an owner that holds nothing is refused only when no place is free.
package struct ClientShare: Hashable, Sendable {
    package let places: Int

    package init(places: Int) { self.places = places }

    /// - Parameters:
    ///   - held: places that this owner has.
    ///   - taken: places that all owners have.
    package func admits(holding held: Int, of taken: Int) -> Bool { held < places - taken }

    /// The most that one owner can have.
    package var largest: Int { (places + 1) / 2 }
}
