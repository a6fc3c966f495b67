import ButtonModel
import Flic
import Hub
import Simulator

/// An observation of a `Witness`.
enum Sight {
    /// The process starts with this stored state.
    case began(StoredState)
    case died(isPowerCut: Bool)
    /// An effect of the hub that was carried out.
    case effect(Hub.Effect)
    /// The hub violates an invariant after an input; a sentence.
    case problem(String)
    /// The latest effect, a record, was not written anywhere.
    case recordFailed
    /// A hand swiped or turned.
    case hand(SimulatedWorld.Input)
    /// A button's memory has changed. `onDisk`: its event cursor that would be left after a power cut now.
    case remembered(String, from: EventSnapshot?, to: EventSnapshot, onDisk: EventCursor?)
}
