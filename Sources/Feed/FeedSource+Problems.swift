#if DEBUG
    import ButtonModel

    extension FeedSource {
        /// The invariants that are violated, as sentences; empty unless this type has a fault.
        package func problems() -> [String] {
            var problems = deadlines.problems()
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append(problem()) }
            }
            expect(isConnected || term == nil, "it leads without a connection")
            expect(
                waiting.members.isEmpty || !hasRoomToAsk,
                "\(waiting.members.count) buttons wait, and only \(asked.count) are asked")
            expect(
                asked.union(waiting.members).allSatisfy { self[$0] != nil && sites[$0.site]?.isHere == true },
                "a button is asked that is not here")
            expect(
                refusedReports.members.isEmpty || deadlines.deadline(of: .reports) != nil,
                "reports were refused, and are not made again")
            expect(sites.count <= Self.maximumSites, "there are \(sites.count) sites")
            for (name, site) in sites {
                expect(isConnected || !site.isHere, "\(name) is here without a connection")
                expect(site.hello != nil || !site.isHere, "\(name) is here without a hello")
                expect(site.buttons.count <= FeedHello.maximumButtons, "\(name) has \(site.buttons.count) buttons")
                for (id, button) in site.buttons {
                    problems += button.problems().map { "\(name)/\(id): \($0)" }
                    let isTaken = term != nil && site.isHere
                    expect(isTaken || button.state == .unknown, "\(name)/\(id) is asked, and we do not lead")
                    let key = ButtonKey(site: name, button: id)
                    let awaits = !button.announced.isEmpty || !button.announcedDone.isEmpty || !button.reported.isEmpty
                    expect(
                        isConnected || !awaits,
                        "\(name)/\(id) waits for acknowledgements without a connection")
                    expect(
                        button.state == .unknown
                            || !button.hasGap || deadlines.deadline(of: .want(key)) != nil || button.askedAt != nil,
                        "\(name)/\(id) has a gap and no request for its messages")
                    expect(
                        deadlines.deadline(of: .done(key)) == nil || !button.isDoneAnnounced,
                        "\(name)/\(id): what is done would be announced twice")
                    expect(
                        !(isTaken && site.hello?.buttons[id] != nil) || button.state != .unknown
                            || waiting.members.contains(key),
                        "\(name)/\(id) is at a connected site, its state is unknown, and it does not wait to be asked for"
                    )
                }
            }
            return problems
        }
    }

    extension FeedSource.Button {
        fileprivate func problems() -> [String] {
            var problems: [String] = []
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append(problem()) }
            }
            expect(accounted <= cursor, "\(accounted) is accounted for, and only \(cursor) is claimed")
            expect(open.map { $0.upperBound <= cursor } ?? true, "a message was taken without a claim")
            expect(unconfirmed.map { $0.upperBound <= cursor } ?? true, "a message was taken without a claim")
            expect(unconfirmed == nil || givenUpSince != nil, "nobody knows when an unconfirmed message was taken")
            expect(state == .unknown || accounted == cursor, "a claim is neither ours nor reported")
            expect(!hasGap || state == .asking, "there is a gap in the state \(state)")
            return problems
        }
    }
#endif
