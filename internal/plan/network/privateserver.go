package network

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// privateServer writes the API server's private address to /etc/hosts: the machine's DNS may not resolve a private link's
// name. The address is in a tag of the machine. If the tag changes, the watcher plans the new address with WithServerAddress.
// Nothing else writes the line.
var privateServer = concern.Concern{
	Name:  "private API server",
	Joins: true,
	Reads: []string{"$.cluster.server", hostsAgentPath},
	Plan:  planPrivateServer,
}

const hostsAgentPath = "$.network.hostsAgent"

// hostsFile resolves names before DNS does (hosts(5), nsswitch.conf(5)).
const hostsFile = "/etc/hosts"

// hostsBlock is the label of the part of it that has the API server.
const hostsBlock = "api-server"

func planPrivateServer(in *concern.Input, out *concern.Output) {
	name := KeepsServer(in)
	if name == "" {
		return
	}
	address := ""
	if in.Facts.Instance != nil {
		address = facts.ServerAddress(in.Facts.Instance.APIServerAddress)
	}
	known := in.Seen() // else it is not known of which machine
	if address == "" && known {
		out.Warn(nodeconfig.Missing, hostsAgentPath, "has no address for %s: the machine has no tag %s that holds one; until it has, the name's address is what DNS says", name, facts.ServerAddressTag)
	}
	out.Append(resource.Resource{
		Phase:  resource.Join,
		Reason: concern.Sourced("the API server's private address, from the machine's tag", in.Family.Sources.PrivateServer),
		Spec:   serverLine(name, address),
	})
	if !known || in.Facts.Platform == facts.Azure { // other machines have no tags to follow
		planWatcher(in, out, known)
	}
}

// serverLine is the API server's part of /etc/hosts. It comes first, because the first of two lines with a name counts.
// Without an address the line contains a remark, by which WithServerAddress knows that an address is wanted.
func serverLine(name, address string) *resource.Block {
	line := "# " + name + " has no address yet: the machine has no tag " + facts.ServerAddressTag + " that holds one.\n"
	if address != "" {
		line = address + " " + name + "\n"
	}
	return &resource.Block{Path: hostsFile, Label: hostsBlock, Content: line, First: true}
}

// planWatcher has the image's watcher run, which asks for the tag from then on.
func planWatcher(in *concern.Input, out *concern.Output, known bool) {
	at := in.Facts.Watcher
	switch {
	case at == "" && known:
		out.Warn(nodeconfig.NotInstalled, hostsAgentPath, "wants %s, and the machine has none: another address in the tag is not noticed", facts.WatcherUnit)
		return
	case path.Base(at) != facts.WatcherUnit || !concern.IsPlainPath(at):
		at = resource.UnitDir + "/" + facts.WatcherUnit
	}
	out.Join("", &resource.Symlink{Path: concern.Wants(facts.WatcherUnit).Path, Target: at}, 0, "starts at boot")
	watch := out.Join("", &resource.Unit{Unit: facts.WatcherUnit, Stays: true}, exitcode.UnitStartFailed, "follows the tag with the API server's address")
	watch.After = []resource.ID{resource.IDOf(&resource.Check{Label: concern.KubeletActive})} // the node does not wait for it
}

// ServerAddress returns the API server's address that a plan writes to /etc/hosts; empty if it is not known yet. kept is false
// if the plan writes none.
func ServerAddress(p resource.Plan) (address string, kept bool) {
	i := serverBlockOf(p)
	if i < 0 {
		return "", false
	}
	address, _, _ = strings.Cut(p.Resources[i].Spec.(*resource.Block).Content, " ")
	return facts.ServerAddress(address), true
}

// WithServerAddress returns the plan that the same config makes for a machine whose tag has another address of the API
// server. The rest of the plan stays. changed is false if the plan stays the same. It also stays the same if address is empty,
// because the last known address stays.
func WithServerAddress(p resource.Plan, address string) (other resource.Plan, changed bool) {
	address = facts.ServerAddress(address)
	have, kept := ServerAddress(p)
	name := privateName(serverOf(p))
	if !kept || name == "" || address == "" || address == have {
		return p, false
	}
	i := serverBlockOf(p)
	p.Resources = slices.Clone(p.Resources)
	p.Resources[i].Spec = serverLine(name, address)
	return p, true
}

func serverBlockOf(p resource.Plan) int {
	want := resource.IDOf(&resource.Block{Path: hostsFile, Label: hostsBlock})
	return slices.IndexFunc(p.Resources, func(r resource.Resource) bool { return r.ID() == want })
}

// serverOf is the API server that a plan's node joins.
func serverOf(p resource.Plan) string {
	for _, r := range p.Resources {
		if check, ok := r.Spec.(*resource.Check); ok && check.Label == concern.APIServerLabel && check.APIServer != nil {
			return check.APIServer.Server
		}
	}
	return ""
}
