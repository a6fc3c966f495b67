#if DEBUG
    import ButtonModel

    extension EngineLeadership {
        /// The invariants that are violated, as sentences; empty unless this type has a fault.
        package func problems() -> [String] {
            var problems = deadlines.problems()
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("\(engine): \(problem())") }
            }
            expect(term <= highestTerm, "our term is not the highest that we know")
            let expected: Set<TimerKey>
            switch state {
            case .standingBy:
                expected = !isConnected || isVacant && !canClaim ? [] : isVacant ? [.pause] : [.silence]
            case .claiming:
                expect(isConnected, "it claims without a connection")
                expected = [.claim]
            case .leading:
                expect(isConnected, "it leads without a connection")
                expected = [.state, .lease]
            case .fenced: expected = isConnected ? [.fence] : []
            }
            // A stand-by may say every 3 s that it is present.
            var optional: Set<TimerKey> = [.namesake, .otherShare, .otherRules, .probe]
            if state == .standingBy, isConnected { optional.insert(.state) }
            expect(
                Set(deadlines.keys).subtracting(optional) == expected.subtracting(optional),
                "it waits for \(deadlines.keys) in the state \(state)")
            expect(former == nil || state == .claiming, "it is \(state), and waits for a former leader")
            expect(!isVacant || state == .standingBy, "it is \(state), and nobody leads")
            expect(canClaim || state == .standingBy, "it cannot claim, and is \(state)")
            let isProbing = deadlines.deadline(of: .probe) != nil
            expect(
                isProbing || !isDeaf || !isConnected, "it is deaf, and waits for \(deadlines.keys)")
            expect(!isProbing || isConnected && state == .standingBy, "it is \(state), and asks for its own message")
            expect((deadlines.deadline(of: .otherRules) != nil) == (otherRules != nil), "other rules have no deadline")
            return problems
        }
    }
#endif
