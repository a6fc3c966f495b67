import ButtonModel
import Expressions
import Gestures

/// The presses that runs have claimed with `wait_for` and `claim: true`. No rule and no other run sees what becomes of such
/// a press: neither its release, nor the gestures of which it is a part.
///
/// There is one exception: if a rule or another run has seen a `hold` of the press before the claim, its `hold_release` is seen as
/// usual, because what a hold has begun must be able to end.
///
/// Claims stay when the rules are reloaded. They are not stored: after a restart, the rest of a press is seen as usual.
struct PressClaims: Sendable {
    private struct Claim: Sendable {
        var presses = RecentPresses()
        /// The run with the latest claim, which sees the rest of the press.
        var claimant: RunID
    }

    /// At most one for each button and part.
    private var claims: [PressSource: Claim] = [:]
    /// The latest press of which a `hold` was seen before it was claimed, for each button and part.
    private var heldPresses: [PressSource: UInt64] = [:]

    /// The run that has claimed a press of the event; `nil` if all rules and runs see the event.
    func claimant(of event: RecognisedEvent) -> RunID? {
        guard !claims.isEmpty, let presses = event.presses else { return nil }
        let source = PressSource(button: event.button, part: event.part)
        guard let claim = claims[source], claim.presses.contains(presses),
            event.kind != .holdRelease || heldPresses[source] != presses.upperBound
        else { return nil }
        return claim.claimant
    }

    /// Notes that a run has claimed the press of an event. An event without presses, such as a turn, is claimed alone.
    mutating func claim(_ event: Event, for run: RunID) {
        guard let presses = event.presses, let source = event.source else { return }
        claims[source, default: Claim(claimant: run)].presses.insert(presses)
        claims[source]?.claimant = run
    }

    /// Notes that a rule, or a run that does not claim it, has seen an event. Only a `hold` matters.
    mutating func wasSeen(_ event: Event) {
        guard event.cause.facts.event == Gesture.hold.rawValue, let presses = event.presses, let source = event.source,
            !(claims[source]?.presses.contains(presses) ?? false)
        else { return }
        heldPresses[source] = presses.upperBound
    }

    /// Forgets the presses of buttons that do not exist any more.
    mutating func keep(_ buttons: Set<ButtonID>) {
        claims = claims.filter { buttons.contains($0.key.button) }
        heldPresses = heldPresses.filter { buttons.contains($0.key.button) }
    }
}
