import CommandSupport

Tryck.runAndExit()
