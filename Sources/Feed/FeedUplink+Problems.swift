#if DEBUG
    import ButtonModel

    extension FeedUplink {
        /// The invariants that are violated, as sentences; empty unless this type or its owner has a fault.
        package func problems() -> [String] {
            var problems = deadlines.problems()
            if session == nil, deadlines.deadline(of: .hello) != nil {
                problems.append("a hello is to be said without a connection")
            }
            for (id, button) in buttons {
                let facts = button.facts
                func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                    if !holds { problems.append("\(id): \(problem())") }
                }
                expect(facts.done <= facts.claimed, "more is done than claimed")
                expect(facts.claimed <= facts.last, "more is claimed than was recorded")
                expect(button.journal.first <= facts.last + 1, "the journal begins after its end")
                expect(button.position <= facts.last, "more was sent than was recorded")
                expect(button.claimable <= facts.last, "more may be claimed than was recorded")
                expect(button.unclaimed.last ?? 0 <= button.journal.sent, "what was sent counts as not sent")
                expect(session != nil || !button.isAsked, "messages were asked for without a connection")
                expect(button.isAsked || button.unclaimed.isEmpty, "messages were sent that nobody has asked for")
                expect(button.position >= facts.claimed, "the next message to send is already claimed")
                expect(
                    button.unclaimed.count <= Self.maximumUnclaimed, "\(button.unclaimed.count) messages are unclaimed")
                expect(
                    zip(button.unclaimed, button.unclaimed.dropFirst()).allSatisfy { $0 < $1 },
                    "messages were sent out of order: \(button.unclaimed)")
                expect(button.unclaimed.allSatisfy { $0 > facts.claimed }, "a claimed message counts as unclaimed")
                expect(
                    (button.unclaimed.last ?? button.position) == button.position, "the last message sent is unknown")
                expect(session != nil || button.unclaimed.isEmpty, "messages are under way without a connection")
                expect(
                    !button.isAsked || button.position == facts.last || button.reading != nil
                        || button.unclaimed.count == Self.maximumUnclaimed,
                    "a message could be sent, and is not")
                expect(
                    (deadlines.deadline(of: .claim(id)) != nil)
                        == (session != nil && isEngineOnline && button.hasToBeClaimed),
                    "a claim is awaited without a message or an engine, or the reverse")
                expect(
                    (deadlines.deadline(of: .want(id)) != nil) == (button.waitingWant != nil),
                    "a want waits without a deadline, or the reverse")
            }
            return problems
        }
    }
#endif
