package resource

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Command is a program to run, for work that has no API.
type Command struct {
	// Label names the command within the plan.
	Label   string            `json:"label"`
	Argv    []string          `json:"argv"`
	Env     map[string]string `json:"env,omitempty"`
	Timeout Duration          `json:"timeout"`
	// Inputs are files, directories and links that it works on. If it has any, it runs only after a change at or below
	// one of them, including a removal because the plan does not have the command any more.
	Inputs []string `json:"inputs,omitempty"`
	// Once is the name of the command's work. It runs once on a machine for each name, and is not undone. It may be
	// empty.
	Once string `json:"once,omitempty"`
	// While is a unit: the command runs only while that is active.
	While string `json:"while,omitempty"`
	// Done shows whether the command's work is already done, so that it need not run. It may be nil.
	Done *Printed `json:"done,omitempty"`
	// Advisory reports that the node works without it: a failure is a warning. Readers of its inputs do not wait for
	// it. Confirms are files, and directories with links, that are already as the command would make them: a change
	// there is a warning, too.
	Advisory bool     `json:"advisory,omitempty"`
	Confirms []string `json:"confirms,omitempty"`
	// Optional reports that it may fail, for example because it removes a file that may be gone already.
	Optional bool `json:"optional,omitempty"`
	// OwnCode reports that its exit code is the provisioning's.
	OwnCode bool `json:"ownCode,omitempty"`
	// Unconfined reports that it needs the machine's main file system view. An agent in a unit with another view lets
	// systemd run it, or refuses a command with OwnCode.
	Unconfined bool `json:"unconfined,omitempty"`
	// Stdin is its standard input. No record of a plan keeps it, nor the command.
	Stdin Hidden `json:"stdin,omitzero"`
}

// Printed is a program that changes nothing, and lines of its output. Blanks at the ends of a line do not count, and
// several blanks count as one.
type Printed struct {
	Argv  []string `json:"argv"`
	Lines []string `json:"lines"`
}

// In reports whether a program's output has each line.
func (p *Printed) In(output []byte) bool {
	printed := make(map[string]bool)
	for line := range strings.Lines(string(output)) {
		printed[oneLine(line)] = true
	}
	return !slices.ContainsFunc(p.Lines, func(line string) bool { return !printed[oneLine(line)] })
}

// oneLine replaces several blanks by one.
func oneLine(line string) string { return strings.Join(strings.Fields(line), " ") }

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
	if c.Done != nil && (len(c.Done.Argv) == 0 || len(c.Done.Lines) == 0) {
		errs = append(errs, fmt.Errorf("command %q: what shows that it is done has no program, or no lines", c.Label))
	}
	for _, path := range slices.Concat(c.Inputs, c.Confirms) {
		errs = append(errs, checkPath(path))
	}
	return errors.Join(append(errs, named(c))...)
}

// Describe implements Spec.
func (c *Command) Describe() Description {
	return Description{Title: c.Label, What: strings.Join(c.Argv, " ")}
}

// kept is nil for a command that reads a secret: no record keeps it.
func (c *Command) kept() *Command {
	if c.Stdin.IsZero() {
		return c
	}
	return nil
}

// Background reports whether nothing waits for the command, not even the result of the run: it is advisory and has
// inputs.
func (c *Command) Background() bool { return c.Advisory && len(c.Inputs) > 0 }

// Reads reports whether the command must run after a change at a path.
func (c *Command) Reads(path string) bool {
	return slices.ContainsFunc(c.Inputs, func(input string) bool { return below(path, input) })
}
