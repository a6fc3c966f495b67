/// Reads a complete value, by Read and Read Blob requests.
///
/// | state      | on                                    | becomes    | and we                          |
/// |------------|---------------------------------------|------------|---------------------------------|
/// | first      | a part that fills the ATT_MTU         | continuing | Read Blob from where it ends    |
/// | first      | a shorter part                        | –          | done                            |
/// | continuing | a part that fills the ATT_MTU         | continuing | Read Blob from where it ends    |
/// | continuing | a shorter part, invalid offset, not long | –       | done                            |
/// | any        | 512 octets in all                     | –          | done, without another request   |
/// | any        | more than 512 octets                  | –          | failed: malformedResponse       |
/// | any        | another error                         | –          | failed: errorResponse           |
///
/// If the value changes between the requests, the result mixes both values; the protocol cannot prevent that.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 4.8.1 and 4.8.3.
struct ValueRead: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        case first
        case continuing
    }

    let handle: AttributeHandle
    private var state = State.first
    private var value: [UInt8] = []
    /// The ATT_MTU when the outstanding request was sent. The server may have answered before an exchange increased it.
    private var attMTU: UInt16

    init(_ handle: AttributeHandle, attMTU: UInt16) {
        self.handle = handle
        self.attMTU = attMTU
    }

    var firstRequest: ATTPDU { .readRequest(handle.rawValue) }

    mutating func handle(_ response: ATTPDU, attMTU: UInt16) -> GATTStep<[UInt8]> {
        switch (state, response) {
        case (.first, .readResponse(let part)), (.continuing, .readBlobResponse(let part)):
            return take(part, attMTU: attMTU)
        case (.continuing, .errorResponse(_, _, .invalidOffset)),
            (.continuing, .errorResponse(_, _, .attributeNotLong)):
            return .done(value)
        case (_, .errorResponse(_, let handle, let code)):
            return .failed(.errorResponse(code: code.rawValue, attributeHandle: handle))
        case (.first, _), (.continuing, _):
            return .failed(.malformedResponse)
        }
    }

    private mutating func take(_ part: [UInt8], attMTU: UInt16) -> GATTStep<[UInt8]> {
        let isFull = part.count >= Int(min(self.attMTU, attMTU)) - 1
        value += part
        guard value.count <= ATTPDU.maximumValueLength else { return .failed(.malformedResponse) }
        guard isFull, value.count < ATTPDU.maximumValueLength else { return .done(value) }
        state = .continuing
        self.attMTU = attMTU
        return .request(.readBlobRequest(handle.rawValue, offset: UInt16(value.count)))
    }
}
