package resource

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Command is a program that is run, where no API exists for what it does.
type Command struct {
	// Label names the command within the plan.
	Label   string            `json:"label"`
	Argv    []string          `json:"argv"`
	Env     map[string]string `json:"env,omitempty"`
	Timeout Duration          `json:"timeout"`
	// Inputs are files, directories and links that it works on. Where there are any, it is run only when something at one
	// of them, or below, has changed; also when that is gone because the plan has the command no more.
	Inputs []string `json:"inputs,omitempty"`
	// While is a unit: the command is run only while that is active.
	While string `json:"while,omitempty"`
	// Optional says that it may fail: what it is to remove may be gone already.
	Optional bool `json:"optional,omitempty"`
	// OwnCode says that the code that it fails with is the provisioning's.
	OwnCode bool `json:"ownCode,omitempty"`
	// Unconfined says that it needs the machine as everybody sees it: it is not run by an agent whose own unit shows it
	// another one.
	Unconfined bool `json:"unconfined,omitempty"`
}

// Kind implements Spec.
func (*Command) Kind() string { return "Command" }

// Name implements Spec.
func (c *Command) Name() string { return c.Label }

// Paths implements Spec.
func (*Command) Paths() []string { return nil }

// Valid implements Spec.
func (c *Command) Valid() error {
	if len(c.Argv) == 0 {
		return fmt.Errorf("command %q has no program", c.Label)
	}
	var errs []error
	for _, input := range c.Inputs {
		errs = append(errs, checkPath(input))
	}
	return errors.Join(append(errs, named(c))...)
}

// Describe implements Spec.
func (c *Command) Describe() Description {
	return Description{Title: c.Label, What: strings.Join(c.Argv, " ")}
}

// Reads reports whether the command is to be run after a change at a path.
func (c *Command) Reads(path string) bool {
	return slices.ContainsFunc(c.Inputs, func(input string) bool { return below(path, input) })
}
