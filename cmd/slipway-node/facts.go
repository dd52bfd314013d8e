package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/collect"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
)

func (a *app) facts() *cobra.Command {
	var output command.Choice
	cmd := &cobra.Command{
		Use:   "facts [flags]",
		Short: "Show the facts of the machine",
		Long: `Show what plans are made from: the machine's operating system, firmware, size, disks, network and
installed components. Nothing is changed, and nothing is asked over the network.

-o json prints the record that --facts takes, so that you can plan for this machine elsewhere.
Run it as root: some clouds are recognised by firmware fields that only root can read.`,
		Example: `  slipway-node facts
  slipway-node facts -o json >facts.json
  slipway-node facts --root ./out/node`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			known, err := a.gather()
			if err != nil {
				return a.failed(err)
			}
			return command.Print(a.Streams, output.Value, known, func(cli.Style) string { return factsText(known) })
		},
	}
	command.AddOutput(cmd, &output)
	return cmd
}

// gather gathers the facts of the machine, or of the directory that replaces it.
func (a *app) gather() (facts.Facts, error) {
	machine, err := a.opened()
	if err != nil {
		return facts.Facts{}, err
	}
	defer machine.Close()
	return facts.Gather(machine), nil
}

// observed is a machine that a command only looks at.
type observed interface {
	agent.Host
	collect.Machine
	// Head reads the first bytes of a file, at most limit, and its last change.
	Head(path string, limit int64) (data []byte, changed time.Time, cut bool, err error)
	io.Closer
}

// opened opens the machine, or the directory that replaces it, which must exist.
func (a *app) opened() (observed, error) {
	if a.root == "" {
		return host.OpenMachine()
	}
	if _, err := os.Stat(a.root); err != nil {
		return nil, fmt.Errorf("--root %s: %w", a.root, command.Pathless(err))
	}
	dir, err := host.OpenDirectory(a.root)
	if err != nil {
		return nil, fmt.Errorf("--root: %w", err)
	}
	return dir, nil
}

// observer is the agent of a machine that a command only looks at: it logs nothing, and needs no systemd.
func (a *app) observer(machine observed) *agent.Agent {
	return &agent.Agent{Host: machine, Log: slog.New(slog.DiscardHandler), Now: time.Now, Version: cli.Version, Called: a.family.Agent.Called, Sequential: true}
}

// factsText formats the facts for people: a line for each subject, and more lines if there are several of a kind.
// Unknown facts have no line.
func factsText(f facts.Facts) string {
	var table cli.Table
	for _, subject := range []struct {
		title string
		texts []string
	}{
		{"operating system", []string{words(f.OS.ID, f.OS.VersionID, f.OS.VariantID)}},
		{"kernel", []string{words(f.Kernel, f.Architecture)}},
		{"control groups", []string{count("version", int64(f.CgroupVersion))}},
		{"hostname", []string{f.Hostname}},
		{"machine id", []string{f.MachineID}},
		{"boot id", []string{f.BootID}},
		{"platform", []string{f.Platform}},
		{"firmware", []string{words(f.DMI.SysVendor, f.DMI.ProductName, f.DMI.ProductVersion)}},
		{"processors", []string{count("", int64(f.CPUs))}},
		{"memory", []string{byteSize(f.MemoryBytes)}},
		{"disks", each(f.Disks, diskText)},
		{"node addresses", f.NodeIPs},
		{"interfaces", each(f.Interfaces, interfaceText)},
		{"default routes", each(f.Routes, routeText)},
		{"agents", []string{flag("cloud-init", f.CloudInit), flag("Azure's guest agent", f.GuestAgent)}},
		{"components", each(f.Components, componentText)},
	} {
		title := subject.title
		for _, text := range subject.texts {
			if text != "" {
				addRow(&table, title, text)
				title = ""
			}
		}
	}
	return table.String()
}

func diskText(d facts.Disk) string {
	return words(d.Name, byteSize(d.SizeBytes), flag("read-only", d.ReadOnly), flag("removable", d.Removable), flag("temporary", d.Temporary))
}

func interfaceText(i facts.Interface) string {
	return words(i.Name, i.MAC, words(i.Addresses...))
}

func routeText(r facts.Route) string {
	return words(r.Family, flag("via "+r.Gateway, r.Gateway != ""), "on "+r.Interface, count("metric", int64(r.Metric)))
}

func componentText(c components.Component) string { return words(c.Name, c.Version, c.Path) }

// each formats each element of a list.
func each[T any](list []T, text func(T) string) []string {
	var texts []string
	for _, item := range list {
		texts = append(texts, text(item))
	}
	return texts
}

// words joins the non-empty ones.
func words(list ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" }), " ")
}

// flag is the word if holds is true, or "".
func flag(word string, holds bool) string {
	if holds {
		return word
	}
	return ""
}

// count is a number with a word before it, or "" if the number is unknown.
func count(word string, n int64) string {
	if n == 0 {
		return ""
	}
	return words(word, strconv.FormatInt(n, 10))
}

// byteSizes are the units of sizes, largest first.
var byteSizes = []struct {
	unit  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// byteSize is a size in the largest unit that it reaches, or "" if unknown.
func byteSize(n int64) string {
	for _, s := range byteSizes {
		if n >= s.bytes {
			return strconv.FormatFloat(float64(n)/float64(s.bytes), 'f', 1, 64) + " " + s.unit
		}
	}
	return count("", n)
}
