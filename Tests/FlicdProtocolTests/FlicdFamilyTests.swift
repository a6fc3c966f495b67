import FlicdProtocol
import Testing

@Test("the families have the opcodes that clients know")
func opcodes() {
    #expect(FlicdFamily.allCases.map(\.rawValue) == [4, 5, 6, 7])
}
