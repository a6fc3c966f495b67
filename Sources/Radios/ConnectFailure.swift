/// Why a radio has not connected a button.
package enum ConnectFailure: String, CaseIterable, Hashable, Sendable {
    /// A proxy's attempt ended without a link, because the button did not answer or the proxy had no connection free; or
    /// the attempt was not made, for example because the former link was still ending.
    case noLink = "no_link"
    /// The button did not answer on the new link (Connection Failed to be Established, error 0x3E).
    case notEstablished = "not_established"
    /// The link ended before the notifications were on.
    case linkLost = "link_lost"
    /// The button's service was not found, or its notifications could not be enabled.
    case noService = "no_service"
}
