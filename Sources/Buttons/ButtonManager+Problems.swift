#if DEBUG
    import BluetoothHost
    import ButtonModel

    extension ButtonManager {
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        package func problems() -> [String] {
            var problems = deadlines.problems()
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
            for (handle, link) in links {
                let button = ButtonID(link.connection.peer)
                expect(link.connection.handle == handle, "a link is kept under another handle")
                expect(
                    links.values.count { $0.connection.peer == link.connection.peer } == 1, "\(button): two links")
                switch link.phase {
                case .inSession:
                    expect(link.session != nil, "\(button): no session in phase \(link.phase)")
                    expect(link.attributes != nil, "\(button): the attributes are not known in phase \(link.phase)")
                case .exchangingMTU, .discovering, .subscribing:
                    expect(
                        link.session == nil || link.isPairing || known[button] != nil,
                        "\(button): an unexpected session")
                case .disconnecting, .closing: break
                }
                expect(!link.isPairing || known[button] == nil, "\(button): is being paired, and is paired")
            }
            for key in deadlines.keys {
                switch key {
                case .session(let handle):
                    expect(links[handle]?.session != nil, "a session that has ended has a deadline")
                case .gracefulDisconnect(let handle):
                    expect(links[handle] != nil, "a deadline for a link that has ended")
                case .retry(let button):
                    expect(inRetryDelay.contains(button), "\(button): is tried again without a failure")
                case .searchEnds: expect(isSearching, "a deadline for a search that has ended")
                case .candidate: expect(search?.candidate != nil, "the candidate's deadline is set without a candidate")
                case .host, .retryCandidates, .freeLink, .limitCheck, .shutDown: break
                }
            }
            return problems
        }
    }
#endif
