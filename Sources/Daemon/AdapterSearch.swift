package import ButtonModel

/// Which of this machine's controllers is opened.
///
/// The kernel numbers adapters as they come: one that was unplugged may come back as another hciN. So a number is
/// taken as it is, an address is looked up each time, and of any adapter the first is taken that was not refused; when
/// all were, they are tried again from the first.
package struct AdapterSearch: Hashable, Sendable {
    package enum Wanted: Hashable, Sendable {
        case any
        case index(UInt16)
        case address(BluetoothAddress)
    }

    private let wanted: Wanted
    private var refused: Set<UInt16> = []

    package init(_ wanted: Wanted) { self.wanted = wanted }

    /// - Parameter adapters: those the kernel knows now.
    package mutating func next(of adapters: [HCISocketTransport.Adapter]) throws(TransportFailure) -> UInt16 {
        switch wanted {
        case .index(let index):
            return index
        case .address(let address):
            guard let found = adapters.first(where: { $0.address.rawValue == address.rawValue }) else {
                throw .noAdapterWithAddress(address, among: adapters)
            }
            return found.index
        case .any:
            refused.formIntersection(adapters.map(\.index))
            if refused.count == adapters.count { refused = [] }
            guard let first = adapters.map(\.index).filter({ !refused.contains($0) }).min() else {
                throw .noAdapters
            }
            return first
        }
    }

    /// It could not be opened, or not used.
    package mutating func refuse(_ index: UInt16) { refused.insert(index) }
}
