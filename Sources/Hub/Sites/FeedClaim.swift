import MQTTTopics

/// The store changes and messages that have to precede the actions for a message of a site.
struct FeedClaim: Sendable {
    var changes: [StoreChange] = []
    var messages: [MQTTMessage] = []
}
