package main

import (
	"os"
	"testing"

	"vksmedic/testdata/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }
