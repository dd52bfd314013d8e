package command

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Described is a command with its commands, as JSON: what man pages, sites and checks of compatibility are made from.
type Described struct {
	// Path is the command with those above it, such as "slipway image lock".
	Path string `json:"path"`
	// Usage is a line of how to call it.
	Usage string `json:"usage"`
	Short string `json:"short"`
	// Long is empty if Short says all.
	Long string `json:"long,omitempty"`
	// Example has one command in each line, indented by two spaces.
	Example string `json:"example,omitempty"`
	// Group is the title in the help of the command above.
	Group string `json:"group,omitempty"`
	// Flags are its own; GlobalFlags are for it and all commands below.
	Flags       []DescribedFlag `json:"flags,omitempty"`
	GlobalFlags []DescribedFlag `json:"globalFlags,omitempty"`
	Commands    []Described     `json:"commands,omitempty"`
}

// DescribedFlag is a flag.
type DescribedFlag struct {
	Name      string `json:"name"`
	Shorthand string `json:"shorthand,omitempty"`
	// Value names the value, such as FILE. It is empty for a switch.
	Value string `json:"value,omitempty"`
	// Kind is the value's type, such as bool, string or duration.
	Kind string `json:"kind"`
	// Allowed are the values of a flag with a fixed set of them.
	Allowed []string `json:"allowed,omitempty"`
	Usage   string   `json:"usage"`
	// Default is empty if the flag has none, or its kind's zero.
	Default string `json:"default,omitempty"`
}

// describe is a command without those that the help hides.
func describe(cmd *cobra.Command) Described {
	cmd.InitDefaultHelpFlag()
	d := Described{
		Path: cmd.CommandPath(), Usage: cmd.UseLine(), Short: cmd.Short, Long: cmd.Long, Example: cmd.Example, Group: cmd.GroupID,
		Flags: describeFlags(cmd.LocalNonPersistentFlags()), GlobalFlags: describeFlags(cmd.PersistentFlags()),
	}
	for _, c := range cmd.Commands() {
		if shown(c) {
			d.Commands = append(d.Commands, describe(c))
		}
	}
	return d
}

func describeFlags(set *pflag.FlagSet) (all []DescribedFlag) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		d := DescribedFlag{Name: f.Name, Shorthand: f.Shorthand, Value: value, Kind: f.Value.Type(), Usage: usage}
		if choice, ok := f.Value.(*Choice); ok {
			d.Allowed = choice.Allowed
		}
		switch f.DefValue {
		case "", "false", "0", "0s", "[]":
		default:
			d.Default = f.DefValue
		}
		all = append(all, d)
	})
	return all
}
