import FlicdProtocol
import Testing

@Test("the event families have the opcodes of flicd's protocol")
func opcodes() {
    #expect(FlicdFamily.allCases.map(\.rawValue) == [4, 5, 6, 7])
}
