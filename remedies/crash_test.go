package remedies

const crashChildEnv = "VKSMEDIC_TEST_CRASH"

func crashChild() int { return 1 }
