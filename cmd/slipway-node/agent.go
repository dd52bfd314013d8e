package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/host"
)

// Where the log is kept on a machine; AKS collects the one under its own name.
const (
	logPath    = "/var/log/slipway.log"
	aksLogPath = "/var/log/azure/aks-node-controller.log"
)

// agent is the agent on the machine or on a directory.
func (a *app) agent() (*agent.Agent, error) {
	machine, err := host.OpenMachine()
	if err != nil {
		return nil, a.failed(err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, a.failed(err)
	}
	node := &agent.Agent{Named: machine, Program: self, Now: time.Now, Version: cli.Version, AsAKS: a.asAKS}
	if a.root != "" {
		dir, err := host.OpenDirectory(a.root)
		if err != nil {
			return nil, a.failed(fmt.Errorf("--root: %w", err))
		}
		node.Host, node.Log, node.Sequential = dir, a.logger(a.Err), true
		return node, nil
	}
	if os.Geteuid() != 0 {
		return nil, a.failed(errors.New("must be root to work on the machine; try it on a directory with --root DIR"))
	}
	path := logPath
	if a.asAKS {
		path = aksLogPath
	}
	node.Cloud = cloud{}
	node.Host, node.Log = machine, a.logger(io.MultiWriter(a.Err, machine.LogFile(path)))
	return node, nil
}

// failed is a failure of the agent before it has begun.
func (a *app) failed(err error) error {
	code := exitcode.AgentFailed
	if a.asAKS {
		code = exitcode.ForAKS(code)
	}
	return exitWith(code, err)
}

// logger writes JSON, one record a line, for journald and whoever collects logs; on a terminal it
// writes for the person there.
func (a *app) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel.Value)); err != nil {
		panic(err) // the flag has taken nothing else
	}
	options := &slog.HandlerOptions{Level: level}
	if cli.StyleOf(a.Err) != (cli.Style{}) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
