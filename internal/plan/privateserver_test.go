package plan

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/network"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const privateURL = "https://example-1.privatelink.eastus.azmk8s.io:443"

// private makes a contract's API server one of a private link, with the agent that keeps its address.
func private(c *nodeconfig.NodeConfig) { c.Network.HostsAgent, c.Cluster.Server = true, privateURL }

// rotating makes a contract's kubelet ask the cluster for its serving certificate.
func rotating(c *nodeconfig.NodeConfig) {
	c.Kubelet.Flags = append(c.Kubelet.Flags, nodeconfig.Flag{Name: "rotate-server-certificates", Value: "true"})
}

// tagged are facts of a machine with a tag.
func tagged(known facts.Facts, name, value string) facts.Facts {
	known.Platform, known.Instance = facts.Azure, &facts.Instance{Platform: facts.Azure, Tags: facts.Tags{Tagged: true}}
	known.Instance.Take(name, value)
	return known
}

// The watcher's plan for another address equals the planner's plan for a machine with that address, whichever address the machine
// had before.
func TestWithServerAddress(t *testing.T) {
	addresses := []string{"", "10.0.0.4", "10.0.0.5", "fd00::4"}
	for name := range contracts(t) {
		c := contract(t, name, func(c *nodeconfig.NodeConfig) {
			if c.Join.Method != nodeconfig.JoinNone {
				private(c)
			}
		})
		for _, from := range addresses {
			before, _ := New(c, tagged(ubuntu(t), facts.ServerAddressTag, from))
			had, kept := network.ServerAddress(before)
			if joins := c.Join.Method != nodeconfig.JoinNone; kept != joins || joins && had != from {
				t.Errorf("%s: the address is %q, %t, want %q", name, had, kept, from)
			}
			for _, to := range addresses {
				want := before
				if to != "" {
					want, _ = New(c, tagged(ubuntu(t), facts.ServerAddressTag, to))
				}
				unchanged := slices.Clone(before.Resources)
				got, changed := network.WithServerAddress(before, to)
				if changed != (kept && to != "" && to != from) || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: from %q to %q: changed is %t, and the plan is not the planner's", name, from, to, changed)
				}
				if !reflect.DeepEqual(before.Resources, unchanged) {
					t.Errorf("%s: from %q to %q: the former plan is changed", name, from, to)
				}
			}
		}
	}
}

// A text that is not an address is not used as one, whether it comes from the facts or from a request for a change.
func TestServerAddressIsChecked(t *testing.T) {
	c := contract(t, "aks/minimal.json", private)
	known := tagged(ubuntu(t), facts.ServerAddressTag, "10.0.0.4")
	good, _ := New(c, known)
	for _, text := range []string{"x", "10.0.0.5\n10.0.0.6 other", "10.0.0.5 other", "fe80::1%eth0", "::", "127.0.0.1"} {
		if _, changed := network.WithServerAddress(good, text); changed {
			t.Errorf("the address is changed to %q", text)
		}
		known.Instance.APIServerAddress = text
		p, problems := New(c, known)
		if address, kept := network.ServerAddress(p); address != "" || !kept {
			t.Errorf("%q is planned as %q", text, address)
		}
		if !slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == "$.network.hostsAgent" && !p.Fatal }) {
			t.Errorf("%q is not warned of: %v", text, problems)
		}
	}
}

// A node whose API server has no name of a private link, or whose contract has no such agent, keeps no address.
func TestOtherServersHaveNoAddress(t *testing.T) {
	known := tagged(ubuntu(t), facts.ServerAddressTag, "10.0.0.4")
	for server, keeps := range map[string]bool{
		privateURL: true, "https://A.PrivateLink.Example": true,
		"https://privatelink.example": false, "https://a.privatelink": false, "https://aprivatelink.b": false, "https://a.example": false,
		"https://10.0.0.9:443": false,
	} {
		for _, agent := range []bool{true, false} {
			c := contract(t, "aks/minimal.json", func(c *nodeconfig.NodeConfig) { c.Network.HostsAgent, c.Cluster.Server = agent, server })
			p, _ := New(c, known)
			if address, kept := network.ServerAddress(p); kept != (keeps && agent) || kept && address != "10.0.0.4" {
				t.Errorf("%s, %t: %q, %t", server, agent, address, kept)
			}
		}
	}
}

// If an image has the watcher, it is the image's. It goes on running if a new plan does not have it, because it applies that plan.
func TestWatcherIsPlanned(t *testing.T) {
	c := contract(t, "aks/minimal.json", private)
	known := tagged(ubuntu(t), facts.ServerAddressTag, "10.0.0.4")
	unit := resource.IDOf(&resource.Unit{Unit: facts.WatcherUnit})
	for at, want := range map[string]string{
		"": "", "/usr/lib/systemd/system/slipway-watch.service": "/usr/lib/systemd/system/slipway-watch.service",
		"/etc/../etc/passwd": "/etc/systemd/system/slipway-watch.service", "x\n/slipway-watch.service": "/etc/systemd/system/slipway-watch.service",
	} {
		known.Watcher = at
		p, problems := New(c, known)
		link, _ := p.ByID()["Symlink:/etc/systemd/system/multi-user.target.wants/slipway-watch.service"].Spec.(*resource.Symlink)
		if planned(p, unit) != (want != "") || (link != nil) != (want != "") || link != nil && link.Target != want {
			t.Errorf("%q: %+v", at, link)
		}
		if warned := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Kind == nodeconfig.NotInstalled }); warned != (want == "") {
			t.Errorf("%q: %v", at, problems)
		}
		if r, ok := p.ByID()[unit]; ok && resource.Undone(r.Spec) {
			t.Error("the watcher would stop itself")
		}
	}
}

func withGPU(c *nodeconfig.NodeConfig) { c.System.GPU = &nodeconfig.GPU{Vendor: concern.NVIDIA} }

// The agent reads a machine's tags only if one of them can change the plan.
func TestTagsAreNeeded(t *testing.T) {
	values := map[string]string{facts.ServerAddressTag: "10.0.0.4"}
	needed, seen := 0, make(map[string]bool)
	for name, c := range contracts(t) {
		if familyOf(c).Command.Local != "" {
			continue // the cloud's description of the machine is always needed
		}
		for _, change := range []func(*nodeconfig.NodeConfig){func(*nodeconfig.NodeConfig) {}, private, rotating, withGPU} {
			for _, containerd := range []string{"1.7.34", "2.2.4"} {
				c, known := contract(t, name, change), ubuntu(t)
				known.Platform = facts.Azure
				for i := range known.Components {
					if known.Components[i].Name == "containerd" {
						known.Components[i].Version = containerd
					}
				}
				changes := false
				without, _ := New(c, tagged(known, "", ""))
				for _, tag := range facts.KnownTags {
					value := values[tag.Name]
					if value == "" {
						value = "true"
					}
					with, _ := New(c, tagged(known, tag.Name, value))
					differs := !reflect.DeepEqual(with.Resources, without.Resources)
					matters := tagMatters[tag.Name]
					if (matters == nil) != (tag.Unused != "") {
						t.Fatalf("%s: the planner and the table of tags do not agree whether it is read", tag.Name)
					}
					if differs && matters == nil {
						t.Errorf("%s: %s changes the plan, and is not read", name, tag.Name)
					}
					changes = changes || differs
					seen[tag.Name] = seen[tag.Name] || differs
				}
				if needs := slices.Contains(Needs(c, known), NeedDescription); needs != changes {
					t.Errorf("%s, containerd %s, server %s: a tag changes the plan: %t, tags are asked for: %t", name, containerd, c.Cluster.Server, changes, needs)
				} else if needs {
					needed++
				}
				if slices.Contains(Needs(c, tagged(known, facts.ServerAddressTag, "10.0.0.4")), NeedDescription) {
					t.Errorf("%s: tags that are known are asked for", name)
				}
				if keeps := network.KeepsServer(concern.NewInput(c, known)) != "" && c.Join.Method != nodeconfig.JoinNone; slices.Contains(Needs(c, tagged(known, "", "")), NeedDescription) != keeps {
					t.Errorf("%s: a tag that was not there is asked for again: %t, want %t", name, !keeps, keeps)
				}
				if known.Platform = facts.EC2; slices.Contains(Needs(c, known), NeedDescription) {
					t.Errorf("%s: tags are asked for on EC2", name)
				}
			}
		}
	}
	for _, tag := range facts.KnownTags {
		if tag.Unused == "" && !seen[tag.Name] {
			t.Errorf("%s changes no plan", tag.Name)
		}
	}
	if needed == 0 {
		t.Error("no contract needs tags")
	}
}

// hostsOf reads a file of hosts(5): addresses by name, in the order of the lines.
func hostsOf(content []byte) map[string][]string {
	hosts := make(map[string][]string)
	for line := range strings.SplitSeq(string(content), "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			hosts[fields[i]] = append(hosts[fields[i]], fields[0])
		}
	}
	return hosts
}

// serverBlockAt returns the index of the API server's part of /etc/hosts in a plan, or -1.
func serverBlockAt(p resource.Plan) int {
	return slices.IndexFunc(p.Resources, func(r resource.Resource) bool {
		return r.ID() == resource.IDOf(&resource.Block{Path: "/etc/hosts", Label: "api-server"})
	})
}

// FuzzHosts: whatever server, tag and file of hosts there are, the file maps at most the server's own name more than before,
// to the tag's address before any other, and all that was there stays.
func FuzzHosts(f *testing.F) {
	f.Add(privateURL, "10.0.0.4", "127.0.0.1 localhost\n10.9.9.9 example-1.privatelink.eastus.azmk8s.io\n")
	f.Add("https://a.privatelink.b", "fd00::4", "")
	f.Add("https://A.privatelink.B:6443", "::ffff:10.0.0.4", "127.0.0.1 localhost")
	f.Add("https://a.privatelink.b\n10.0.0.1 evil", "10.0.0.4\n10.0.0.5 evil", "# BEGIN slipway api-server\n10.0.0.9 a.privatelink.b\n# END slipway api-server\n")
	f.Add("https://a b.privatelink.c#", "fe80::1%eth0 evil", "\x00")
	least := contract(f, "aks/minimal.json", private)
	known := ubuntu(f)
	f.Fuzz(func(t *testing.T, server, tag, before string) {
		c := *least
		c.Cluster.Server = server
		p, _ := New(&c, tagged(known, facts.ServerAddressTag, tag))
		again, _ := New(&c, known)
		if other, changed := network.WithServerAddress(again, tag); changed {
			again = other
		}
		i, j := serverBlockAt(p), serverBlockAt(again)
		if (i < 0) != (j < 0) || i >= 0 && !reflect.DeepEqual(p.Resources[i], again.Resources[j]) {
			t.Fatal("the watcher would have another line planned than the planner")
		}
		if i < 0 {
			return
		}
		block := p.Resources[i].Spec.(*resource.Block)
		if err := block.Valid(); err != nil {
			t.Fatal(err)
		}
		rest, _ := block.OutOf([]byte(before))
		content, err := block.Into([]byte(before))
		if err != nil {
			t.Skip(err)
		}
		if left, found := block.OutOf(content); !found || string(left) != string(rest) {
			t.Fatalf("others' lines are %q, and were %q", left, rest)
		}
		name, now, others := network.KeepsServer(concern.NewInput(&c, known)), hostsOf(content), hostsOf(rest)
		for host, addresses := range now {
			if host != name && !slices.Equal(addresses, others[host]) {
				t.Fatalf("%q has %q", host, addresses)
			}
		}
		want := others[name]
		if address := facts.ServerAddress(tag); address != "" {
			want = append([]string{address}, want...)
			if _, err := netip.ParseAddr(address); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(now[name], want) {
			t.Fatalf("%s has %q, want %q", name, now[name], want)
		}
	})
}
