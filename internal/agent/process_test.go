package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
)

// provisionAsProcess provisions and returns the exit code. A process of the test binary that runs as an agent does only
// that.
func provisionAsProcess(root, contract string) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := host.OpenDirectory(root)
	if err != nil {
		return fail(err)
	}
	content, err := os.ReadFile(examples + "facts/ubuntu.json")
	if err != nil {
		return fail(err)
	}
	var known facts.Facts
	if err := json.Unmarshal(content, &known); err != nil {
		return fail(err)
	}
	a := Agent{Host: dir, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Now: time.Now, Version: "test", Called: aksName}
	return a.Provision(context.Background(), ProvisionOptions{Config: contract, Facts: &known}).ExitCode
}
