Tryck.runAndExit()
