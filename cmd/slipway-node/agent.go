package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/host"
)

// changing is the agent for a command that may change the machine: its exit code is the outcome, even if the output is
// not read.
func (a *app) changing() (*agent.Agent, error) {
	node, err := a.agent()
	a.changes = err == nil
	return node, err
}

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
	node := &agent.Agent{Named: machine, Program: self, Now: time.Now, Version: cli.Version, Called: a.family.Agent.Called}
	if a.root != "" {
		dir, err := host.OpenDirectory(a.root)
		if err != nil {
			return nil, a.failed(fmt.Errorf("--root: %w", err))
		}
		a.log = a.newLog(nil)
		node.Host, node.Log, node.Sequential = dir, a.log, true
		if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
			node.Now = func() time.Time { return time.Unix(seconds, 0).UTC() } // reproducible-builds.org/specs/source-date-epoch
		}
		return node, nil
	}
	if os.Geteuid() != 0 {
		return nil, a.failed(errors.New("only root can work on the machine; --root DIR works on a directory"))
	}
	if !machine.Booted() {
		return nil, a.failed(errors.New("systemd does not run on this machine, and it starts a node's units: use a machine that systemd has booted; --root DIR works on a directory"))
	}
	node.Cloud = cloud{}
	a.logFile = machine.LogFile(a.family.Publication.Log)
	a.log = a.newLog(a.logFile)
	node.Host, node.Log = machine, a.log
	return node, nil
}

// failed is an error before the agent has begun.
func (a *app) failed(err error) error {
	return exitWith(a.family.Publication.Code(exitcode.AgentFailed), err)
}
