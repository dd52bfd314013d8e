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
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return nil, exitWith(exitcode.Usage, fmt.Errorf("--log-level %s: want debug, info, warn or error", a.logLevel))
	}
	node := &agent.Agent{Now: time.Now, Version: cli.Version, AsAKS: a.asAKS}
	if a.root != "" {
		dir, err := host.OpenDirectory(a.root)
		if err != nil {
			return nil, exitWith(exitcode.AgentFailed, fmt.Errorf("--root: %w", err))
		}
		here, err := host.OpenMachine()
		if err != nil {
			return nil, exitWith(exitcode.AgentFailed, err)
		}
		node.Host, node.Named, node.Log, node.Sequential = dir, here, a.logger(level, a.stderr), true
		return node, nil
	}
	if os.Geteuid() != 0 {
		return nil, exitWith(exitcode.AgentFailed, errors.New("must be root to work on the machine; try it on a directory with --root DIR"))
	}
	machine, err := host.OpenMachine()
	if err != nil {
		return nil, exitWith(exitcode.AgentFailed, err)
	}
	path := logPath
	if a.asAKS {
		path = aksLogPath
	}
	node.Host, node.Log = machine, a.logger(level, io.MultiWriter(a.stderr, machine.LogFile(path)))
	return node, nil
}

// logger writes JSON, one record a line, for journald and whoever collects logs; on a terminal it
// writes for the person there.
func (a *app) logger(level slog.Level, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if cli.StyleOf(a.stderr) != (cli.Style{}) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
