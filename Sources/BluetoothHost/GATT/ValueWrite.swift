/// Writes a value with response: by one Write Request if it fits, else by Prepare Write and Execute Write.
///
/// | state      | on                                | becomes    | and we                                 |
/// |------------|-----------------------------------|------------|----------------------------------------|
/// | writing    | Write Response                    | –          | done                                   |
/// | preparing  | our part repeated, more to send   | preparing  | prepare the next part                  |
/// | preparing  | our last part repeated            | executing  | Execute Write                          |
/// | preparing  | something else repeated           | cancelling | Execute Write, cancelled               |
/// | preparing  | an error                          | cancelling | Execute Write, cancelled               |
/// | executing  | Execute Write Response            | –          | done                                   |
/// | cancelling | anything                          | –          | failed, with the reason for cancelling |
/// | writing, executing | an error                  | –          | failed: errorResponse                  |
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 4.9.3 to 4.9.5.
struct ValueWrite: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        case writing
        /// `part`, which begins at `offset`, awaits its response.
        case preparing(offset: Int, part: [UInt8])
        case executing
        case cancelling(ATTFailure)
    }

    let handle: AttributeHandle
    private let value: [UInt8]
    private var state: State

    /// - Parameter value: at most 512 octets.
    init(_ value: [UInt8], to handle: AttributeHandle, attMTU: UInt16) {
        self.handle = handle
        self.value = value
        let isShort = value.count <= Int(attMTU) - 3
        state = isShort ? .writing : .preparing(offset: 0, part: Array(value.prefix(Int(attMTU) - 5)))
    }

    var firstRequest: ATTPDU {
        switch state {
        case .preparing(let offset, let part):
            .prepareWriteRequest(handle.rawValue, offset: UInt16(clamping: offset), part)
        case .writing, .executing, .cancelling: .writeRequest(handle.rawValue, value)
        }
    }

    mutating func handle(_ response: ATTPDU, attMTU: UInt16) -> GATTStep<AttributeHandle> {
        switch (state, response) {
        case (.writing, .writeResponse), (.executing, .executeWriteResponse):
            return .done(handle)
        case (.preparing(let offset, let part), .prepareWriteResponse(let attribute, let echoed, let echo)):
            guard attribute == handle.rawValue, Int(echoed) == offset, echo == part else {
                return cancel(.preparedValueDiffers)
            }
            return prepare(from: offset + part.count, attMTU: attMTU)
        case (.preparing, .errorResponse(_, let attribute, let code)):
            return cancel(.errorResponse(code: code.rawValue, attributeHandle: attribute))
        case (.cancelling(let failure), _):
            return .failed(failure)
        case (.writing, .errorResponse(_, let attribute, let code)),
            (.executing, .errorResponse(_, let attribute, let code)):
            return .failed(.errorResponse(code: code.rawValue, attributeHandle: attribute))
        case (.writing, _), (.preparing, _), (.executing, _):
            return .failed(.malformedResponse)
        }
    }

    private mutating func prepare(from offset: Int, attMTU: UInt16) -> GATTStep<AttributeHandle> {
        let part = Array(value.dropFirst(offset).prefix(Int(attMTU) - 5))
        guard !part.isEmpty else {
            state = .executing
            return .request(.executeWriteRequest(isCancelled: false))
        }
        state = .preparing(offset: offset, part: part)
        return .request(.prepareWriteRequest(handle.rawValue, offset: UInt16(clamping: offset), part))
    }

    private mutating func cancel(_ failure: ATTFailure) -> GATTStep<AttributeHandle> {
        state = .cancelling(failure)
        return .request(.executeWriteRequest(isCancelled: true))
    }
}
