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
	// Once names what the command does. It is run once on a machine for a name, and not undone; empty for one that has none.
	Once string `json:"once,omitempty"`
	// While is a unit: the command is run only while that is active.
	While string `json:"while,omitempty"`
	// Done is how it is seen that what the command does is done, and that it need not run; nil where nothing shows that.
	Done *Printed `json:"done,omitempty"`
	// Advisory says that the node goes on without it: when it fails, that is a warning. What reads its inputs does not wait for
	// it. Confirms are files and directories with links that are as the command would make them: a change there is a warning, too.
	Advisory bool     `json:"advisory,omitempty"`
	Confirms []string `json:"confirms,omitempty"`
	// Optional says that it may fail: what it is to remove may be gone already.
	Optional bool `json:"optional,omitempty"`
	// OwnCode says that the code that it fails with is the provisioning's.
	OwnCode bool `json:"ownCode,omitempty"`
	// Unconfined says that it needs the machine as everybody sees it: an agent whose own unit shows it another one has
	// systemd run it, and does not run one whose own code is wanted.
	Unconfined bool `json:"unconfined,omitempty"`
	// Stdin is what it reads from its standard input. No record of a plan keeps it, nor the command.
	Stdin Hidden `json:"stdin,omitzero"`
}

// Printed is a program that changes nothing, and lines that it prints. Blanks at the ends of a line do not count, and several
// count as one.
type Printed struct {
	Argv  []string `json:"argv"`
	Lines []string `json:"lines"`
}

// In reports whether each line is in a program's output.
func (p *Printed) In(output []byte) bool {
	printed := make(map[string]bool)
	for line := range strings.Lines(string(output)) {
		printed[oneLine(line)] = true
	}
	return !slices.ContainsFunc(p.Lines, func(line string) bool { return !printed[oneLine(line)] })
}

// oneLine is a line with single blanks.
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

// kept is nil for a command that reads a secret: no record has that.
func (c *Command) kept() *Command {
	if c.Stdin.IsZero() {
		return c
	}
	return nil
}

// Background reports whether nothing waits for the command, not even the result of the run: it is advisory, and works on files.
func (c *Command) Background() bool { return c.Advisory && len(c.Inputs) > 0 }

// Reads reports whether the command is to be run after a change at a path.
func (c *Command) Reads(path string) bool {
	return slices.ContainsFunc(c.Inputs, func(input string) bool { return below(path, input) })
}
