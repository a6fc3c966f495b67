import ButtonModel
import CommandSupport
import Expressions
import Platform
import RuleTesting
import Rules

/// Parses an event of a declared button on a command line: `click`, `clicks_3`, `rotate_clockwise`, or a pattern such as
/// `short,long`.
enum EventArgument {
    static func event(
        _ word: String, of button: String, queued: String?, in set: RuleSet
    ) throws(Failure) -> SimulatedEvent {
        guard set.buttons.contains(where: { $0.name == button }) else {
            throw Failure(.negativeResult, GivenValues.unknown("button", button, among: set.buttons.map(\.name)))
        }
        guard let event = RuleExplainer.event(named: word) else {
            throw Failure(
                .usage,
                "there is no event \"\(word)\"."
                    + DidYouMean.sentence(word, among: TriggerEvent.fileNames + (3...8).map { "clicks_\($0)" })
                    + " The events are click, double_click, clicks_3 … clicks_8, hold, "
                    + "hold_release, down, up, swipe_left … and rotate_clockwise ….")
        }
        var simulated = SimulatedEvent(button: button, event: event)
        if let queued {
            do throws(DurationText.Fault) {
                simulated.age = .milliseconds(try DurationText.milliseconds(queued))
            } catch {
                throw Failure(.usage, "--queued takes an age such as 5s: \"\(queued)\" \(error.message)")
            }
            simulated.wasQueued = true
            simulated.wasQueuedLast = true
        }
        return simulated
    }

    /// Parses the duration of a hold.
    static func heldFor(_ text: String) throws(Failure) -> Duration {
        do throws(DurationText.Fault) {
            return .milliseconds(try DurationText.milliseconds(text))
        } catch {
            throw Failure(.usage, "--held-for takes a duration such as 2s: \"\(text)\" \(error.message)")
        }
    }
}
