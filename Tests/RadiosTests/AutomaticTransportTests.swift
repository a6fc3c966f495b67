import Radios
import Testing

@Suite("The radio auto uses BlueZ where it has a powered adapter, else an adapter of its own")
struct AutomaticTransportTests {
    private static let id = BusCallID(rawValue: 0)

    @Test("a powered adapter of BlueZ is used, and then BlueZ is used for good")
    func powered() {
        var automatic = AutomaticTransport()
        #expect(automatic.opening() == .ask)
        #expect(automatic.reported(.objects(Self.id, BlueZTalk.objects())) == .useBlueZ)
        #expect(automatic.opening() == .useBlueZ)
    }

    private static let answers: [BusInput] = [
        .objects(id, BlueZTalk.objects(isPowered: false)), .objects(id, [:]), .answered(id),
        .refused(id, BusError(name: "org.freedesktop.DBus.Error.ServiceUnknown", message: "")),
    ]

    @Test(
        "without a powered adapter of BlueZ the program opens one, and asks BlueZ again the next time",
        arguments: answers)
    func unpowered(answer: BusInput) {
        var automatic = AutomaticTransport()
        #expect(automatic.reported(answer) == .useAdapter)
        #expect(automatic.opening() == .ask)
    }

    @Test("signals before the answer decide nothing; a bus that fails means an adapter of our own")
    func failure() {
        var automatic = AutomaticTransport()
        #expect(automatic.reported(.interfacesAdded(BlueZTalk.adapter, [:])) == nil)
        #expect(automatic.reported(.ownerLost) == nil)
        #expect(automatic.failed() == .useAdapter)
        #expect(automatic.opening() == .ask)
    }
}
