import ButtonModel
import Flic
import Hub
import Simulator

/// Something that a witness of a house sees.
enum Sight {
    /// The process begins with this in its store.
    case began(StoredState)
    case died(isPowerCut: Bool)
    /// The hub did it, and it was carried out.
    case effect(Hub.Effect)
    /// The hub contradicts itself after an input; a sentence.
    case problem(String)
    /// The latest effect, a record, is nowhere but in the process.
    case recordFailed
    /// A hand swiped, or turned something.
    case hand(SimulatedWorld.Input)
    /// A button did something, or heard that it may forget. `onDisk`: what would be left of it after a power cut now.
    case remembered(String, from: EventMemory?, to: EventMemory, onDisk: EventCursor?)
}
