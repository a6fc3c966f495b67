#if DEBUG
    import ButtonModel
    import Radios

    extension ButtonManager {
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        package func problems() -> [String] {
            var problems = deadlines.problems() + radios.problems()
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("buttons: " + problem()) }
            }
            expect(effects.isEmpty, "an effect was not returned")
            expect(Set(states.keys) == Set(known.keys), "a button without a pairing has a state, or a paired one none")
            expect(delivered.keys.allSatisfy { known[$0] != nil || link(to: $0) != nil }, "events of an unknown button")
            expect(inRetryDelay.allSatisfy { known[$0] != nil }, "an unpaired button has a retry delay")
            expect(
                inRetryDelay.allSatisfy { deadlines.deadline(of: .retry($0)) != nil }, "a button has no retry deadline")
            expect(
                failedVerifications.allSatisfy { known[$0.key] != nil && $0.value < Self.maximumFailedVerifications },
                "a button fails to be verified again and again")
            expect(updates.count <= Self.maximumUpdates, "\(updates.count) images are on their way")
            expect(updates.keys.allSatisfy { known[$0] != nil }, "an image is on its way to a button without a pairing")
            expect(entropy.count <= Self.maximumEntropy, "\(entropy.count) octets of entropy are kept")
            expect(
                (search?.reported.count ?? 0) <= Self.maximumReported + known.count, "a search remembers too much")
            expect(!isSearching || searchEnd != nil, "a search has no end")
            expect(!isShuttingDown || !isSearching, "a search is active during shutdown")
            expect(isControllerReady || links.isEmpty, "there are links, and no adapter")
            for (button, record) in known {
                expect(record.id == button, "\(record.id) is kept as \(button)")
                if let delivered = delivered[button], delivered.bootID == record.cursor.bootID {
                    expect(delivered.covers(record.cursor), "\(button): events are on the disk that were not delivered")
                }
                expect(states[button] == currentState(of: button), "\(button): the state is not that of its link")
            }
            expect(Set(links.keys) == radios.reportedLinks, "the links are not those that the radio has reported")
            for link in links.values {
                let button = ButtonID(link.peer)
                expect(
                    links.values.count { $0.peer == link.peer } == 1, "\(button): two links")
                switch link.phase {
                case .inSession:
                    expect(link.session != nil, "\(button): no session in phase \(link.phase)")
                    expect(link.service != nil, "\(button): the service is not known in phase \(link.phase)")
                case .attaching:
                    expect(
                        link.session == nil || link.isPairing || known[button] != nil,
                        "\(button): an unexpected session")
                case .disconnecting, .closing: break
                }
                expect(!link.isPairing || known[button] == nil, "\(button): is being paired, and is paired")
            }
            for key in deadlines.keys {
                switch key {
                case .session(let id):
                    expect(links[id]?.session != nil, "a session that has ended has a deadline")
                case .gracefulDisconnect(let id):
                    expect(links[id] != nil, "a deadline for a link that has ended")
                case .retry(let button):
                    expect(inRetryDelay.contains(button), "\(button): is tried again without a failure")
                case .searchEnds: expect(isSearching, "a deadline for a search that has ended")
                case .candidate: expect(search?.candidate != nil, "the candidate's deadline is set without a candidate")
                case .radio, .retryCandidates, .freeLink, .limitCheck, .shutDown: break
                }
            }
            return problems
        }
    }
#endif
