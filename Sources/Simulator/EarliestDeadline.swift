import ButtonModel

/// The earlier of two deadlines, where `nil` means no deadline.
func earliest(_ first: Instant?, _ second: Instant?) -> Instant? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
}
