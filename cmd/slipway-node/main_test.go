package main

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/test/script"
)

func TestMain(m *testing.M) {
	under := func(name string) func() {
		return func() { os.Exit(run(asked(context.Background()), name, os.Args[1:], cli.Standard())) }
	}
	testscript.Main(m, map[string]func(){program: under(program), "aks-node-controller": under("aks-node-controller")})
}

// TestScripts runs the program as its users do, on directories.
func TestScripts(t *testing.T) { script.Run(t, "../../examples") }
