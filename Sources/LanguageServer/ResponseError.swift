/// An error in the answer to a request.
///
/// - Source: JSON-RPC 2.0; Language Server Protocol 3.17, ErrorCodes.
struct ResponseError: Error, Hashable, Sendable {
    enum Code: Int64, Sendable {
        case parseError = -32700
        case invalidRequest = -32600
        case methodNotFound = -32601
        case invalidParams = -32602
        case serverNotInitialized = -32002
        case requestCancelled = -32800
        /// The text that the request is about was changed before it could be carried out.
        case contentModified = -32801
        /// The request is correct, but cannot be done, for a reason that the user should read.
        case requestFailed = -32803
    }

    var code: Code
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
