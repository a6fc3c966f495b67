public import Flic
public import TestSupport

extension ButtonSession: StateMachine {}
extension FlicPeripheral: StateMachine {}
