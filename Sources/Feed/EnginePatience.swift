import ButtonModel

/// How long a leader may be silent before another engine leads, and the times that follow from it.
///
/// A leader that was stopped, or whose messages were held up, must not act after another one leads. Therefore it leads only for
/// `limit` after the last of its own states that it has heard back from the broker: the others have waited that long by then,
/// and wait for `EngineLeadership.claimWait` more.
package struct EnginePatience: Hashable, Sendable {
    package static let range = Duration.seconds(2)...Duration.seconds(60)
    package static let standard = EnginePatience(.seconds(10))
    /// libmosquitto takes no shorter keep-alive.
    private static let shortestKeepAlive = Duration.seconds(5)

    /// The silence that counts as `offline`.
    package var limit: Duration

    package init(_ limit: Duration) {
        self.limit = min(max(limit, Self.range.lowerBound), Self.range.upperBound)
    }

    /// How often a leader says that it is online, and a stand-by that it could lead.
    package var stateInterval: Duration { limit * 3 / 10 }
    /// How long a stand-by counts as present after it has said so.
    package var presenceLimit: Duration { limit * 7 / 10 }
    /// The keep-alive of the connection to the broker. The broker ends the connection of an engine that has been silent for one
    /// and a half keep-alives.
    package var keepAlive: Duration { max(Self.shortestKeepAlive, .seconds(limit.milliseconds / 2000)) }
}
