import ButtonModel
import Radios

/// A search for new buttons: the buttons reported so far, and the candidate, the button that is being paired.
struct ButtonSearch: Hashable, Sendable {
    enum Candidate: Hashable, Sendable {
        /// Advertises in public mode. Its scan response, which says whether it is connected elsewhere, is awaited.
        case found(BluetoothAddress)
        case connecting(BluetoothAddress)
        case linked(BluetoothAddress)

        var address: BluetoothAddress {
            switch self {
            case .found(let address), .connecting(let address), .linked(let address): address
            }
        }
    }

    var candidate: Candidate?
    /// The GATT service that the candidate advertised. The service found after connecting may be the other kind.
    var candidateService = FlicService.flic2
    /// True if a user started the search, which then has an end. Otherwise it goes on for as long as `ButtonListening`
    /// requires.
    var isUserRequested = true
    /// The radio that pairs; `nil`: the one that hears the candidate best.
    var radio: RadioID?
    /// The buttons that were reported as private or as already paired, each of which is reported once.
    var reported: Set<BluetoothAddress> = []
    /// The known buttons whose signal was reported. Each is reported once, because a button that is not connected may
    /// advertise for as long as the search lasts.
    var measured: Set<ButtonID> = []
    /// The buttons whose pairing failed. They are not tried again before `retryCandidates` fires or a search starts.
    var failed: Set<BluetoothAddress> = []
    var hasPairedOne = false
}
