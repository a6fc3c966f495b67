import JSON

/// The messages of the editor that wait until a check has ended, in their order.
struct WaitingMessages: Sendable {
    struct Message: Sendable {
        var content: JSONValue
        /// In octets, as the editor has sent it.
        var length: Int
        /// The path of the document that the message is about.
        var path: String?
        /// True after it has waited for a check, or if it need not wait any longer.
        var isReleased = false

        init(_ content: JSONValue, length: Int) {
            self.content = content
            self.length = length
            path = (content["params"]?["textDocument"]?["uri"]?.stringValue).map(FileURI.documentPath)
        }

        var method: String? { content["method"]?.stringValue }
        var isRequest: Bool { content["id"] != nil }
    }

    /// How many messages may wait, and their octets. No more input is wanted then, so that memory stays bounded.
    private static let maximumCount = 256
    private static let maximumLength = 16 << 20

    private var messages: [Message] = []
    private var length = 0

    var isEmpty: Bool { messages.isEmpty }
    var isFull: Bool { messages.count >= Self.maximumCount || length >= Self.maximumLength }

    mutating func append(_ message: Message) {
        messages.append(message)
        length += message.length
    }

    /// Puts back a message that was the first of those that wait, or the only one.
    mutating func putBack(_ message: Message) {
        var message = message
        message.isReleased = false
        messages.insert(message, at: 0)
        length += message.length
    }

    /// - Parameter isChecking: whether only released messages may be handled.
    mutating func popFirst(isChecking: Bool) -> Message? {
        guard let place = messages.firstIndex(where: { $0.isReleased || !isChecking }) else { return nil }
        return remove(at: place)
    }

    mutating func remove(request id: JSONValue) -> Message? {
        messages.firstIndex { $0.content["id"] == id }.map { remove(at: $0) }
    }

    private mutating func remove(at place: Int) -> Message {
        let message = messages.remove(at: place)
        length -= message.length
        return message
    }

    /// The check has ended.
    mutating func releaseAll() { for place in messages.indices { messages[place].isReleased = true } }

    /// Another check has begun.
    mutating func holdAll() { for place in messages.indices { messages[place].isReleased = false } }

    /// The messages about a document need not wait any longer.
    mutating func release(about path: String) {
        for place in messages.indices where messages[place].path == path { messages[place].isReleased = true }
    }

    func isAbout(_ path: String) -> Bool { messages.contains { $0.path == path } }

    /// True if a notification about the document waits. It may open, change or close the document.
    func changes(_ path: String) -> Bool { messages.contains { $0.path == path && !$0.isRequest } }
}
