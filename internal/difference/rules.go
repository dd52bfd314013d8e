package difference

import (
	"encoding/pem"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// event is what happens to a resource.
type event uint8

const (
	added event = 1 << iota
	removed
	changed
	always = added | removed | changed
)

// ruleRow is the class of a change of a resource, selected by its kind and its name.
type ruleRow struct {
	Kind string
	// Names are patterns (path.Match). Empty means every name.
	Names  []string
	On     event
	Class  Class
	Reason string
	Source string
}

// ruleTable is sorted by class, the greatest first.
var ruleTable = []ruleRow{
	{"Unit", []string{plan.KubeletUnit}, removed, Replace, "without a kubelet the machine is not a node", "Kubernetes docs, Nodes: a Node without a kubelet that renews its lease is not ready"},
	{"File", everyPlace(func(p *profile.Paths) string { return p.Kubeconfig }), added | removed, Replace, "the kubelet gets another credential, which may be another Node's", "Kubernetes docs, Using Node Authorization"},

	{"File", []string{"/etc/default/grub", "/etc/default/grub.d/*", "/etc/kernel/cmdline", "/etc/kernel/cmdline.d/*"}, always, Reboot, "the kernel reads its command line when it boots", "bootparam(7)"},
	{"File", []string{"/etc/modprobe.d/*"}, always, Reboot, "a module that is loaded keeps the options it was loaded with", "modprobe.d(5)"},

	{"File", []string{plan.NetworkDir + "/*", plan.NetworkTemplate}, always, Drain, "pods that run keep the network they were started in", "CNI specification: a network is removed by the configuration that it was added by"},
	{"Unit", []string{plan.ContainerdUnit}, removed, Drain, "without a runtime no container can be looked after", "Kubernetes docs, Container Runtimes"},

	{"File", []string{"/etc/fstab", resource.UnitDir + "/*.swap"}, always, Restart, "the kubelet looks whether there is swap when it starts", "Kubernetes docs, Swap memory management"},

	{"Symlink", []string{"/etc/resolv.conf"}, always, None, "pods that run keep the resolver they were started with", dynamic},
}

// everyPlace is a place in each family of nodes.
func everyPlace(of func(*profile.Paths) string) []string {
	var names []string
	for _, family := range profile.All() {
		names = append(names, of(&family.Paths))
	}
	return names
}

func (r ruleRow) isOf(d delta) bool {
	return r.Kind == d.spec().Kind() && r.On&d.event() != 0 &&
		(len(r.Names) == 0 || slices.ContainsFunc(r.Names, func(pattern string) bool {
			ok, err := path.Match(pattern, d.spec().Name())
			return ok && err == nil
		}))
}

// Rules that look into what changes.
var (
	authorityExtended = ruleRow{Class: Restart, Reason: "certificates change, and one at least stays: the cluster is the same", Source: "Kubernetes docs, Manual Rotation of CA Certificates"}
	authorityReplaced = ruleRow{Class: Replace, Reason: "no certificate stays: another cluster, or one whose nodes have to join again", Source: "Kubernetes docs, Manual Rotation of CA Certificates"}
	serverReplaced    = ruleRow{Class: Replace, Reason: "another server may be another cluster, and a kubelet that joined with a token has the old one in its own kubeconfig", Source: "k8s.io/kubernetes v1.36.3 pkg/kubelet/certificate/bootstrap/bootstrap.go: LoadClientConfig"}
	bootstrapIgnored  = ruleRow{Class: None, Reason: "a kubelet with its own kubeconfig does not read it", Source: "Kubernetes docs, TLS bootstrapping: kubelet configuration"}

	versionPatch     = ruleRow{Class: Restart, Reason: "a patch of the same minor version", Source: versionSkew + `"Supported versions"`}
	versionUpgrade   = ruleRow{Class: Drain, Reason: "a minor version of the kubelet is not changed under running pods", Source: versionSkew + `"Supported component upgrade order", kubelet`}
	versionUnknown   = ruleRow{Class: Drain, Reason: "no contract names the versions, which may be different minor versions", Source: versionSkew + `"Supported component upgrade order", kubelet`}
	versionDowngrade = ruleRow{Class: Replace, Reason: "a kubelet need not understand what a newer minor version left behind", Source: versionSkew + `"Supported component upgrade order": upgrades only`}
)

const versionSkew = "Kubernetes, Version Skew Policy, "

// rules judges the changes that the rows select by kind and name.
func (j *judge) rules() {
	for _, d := range j.deltas {
		for _, row := range ruleTable {
			if row.isOf(d) {
				j.add(d.id, row.of(d))
			}
		}
		switch spec := d.spec().(type) {
		case *resource.File:
			if row, ok := authorityRow(d); ok && slices.Contains(everyPlace(func(p *profile.Paths) string { return p.CA }), spec.Path) {
				j.add(d.id, row.of(d))
			}
			if spec.Temporary() || slices.Contains(everyPlace(func(p *profile.Paths) string { return p.BootstrapConfig }), spec.Path) {
				j.add(d.id, bootstrapIgnored.of(d))
			}
		case *resource.Symlink:
			// If a contract accepts the installed kubelet, only the link shows that the kubelet changes.
			if j.before.Node.Version == "" && j.after.Node.Version == "" && slices.Contains(everyPlace(func(p *profile.Paths) string { return p.Kubelet }), spec.Path) {
				j.add(d.id, versionUnknown.of(d))
			}
		case *resource.Check:
			if slices.ContainsFunc(d.fields, func(f Field) bool { return f.Path == "spec.apiServer.server" }) {
				j.add(d.id, serverReplaced.of(d))
			}
		}
	}
}

func (r ruleRow) of(d delta) Reason { return Reason{r.Class, d.spec().Name(), r.Reason, r.Source} }

// authorityRow reports whether a cluster's certificates were extended or replaced; ok is false where they
// are the same.
func authorityRow(d delta) (row ruleRow, ok bool) {
	if d.old == nil || d.new == nil {
		return authorityReplaced, true
	}
	had, wanted := certificates(d.old), certificates(d.new)
	if slices.ContainsFunc(wanted, func(c string) bool { return slices.Contains(had, c) }) {
		return authorityExtended, !slices.Equal(had, wanted)
	}
	return authorityReplaced, len(had)+len(wanted) > 0
}

func certificates(r *resource.Resource) []string {
	var all []string
	rest := r.Spec.(*resource.File).Content
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return all
		}
		all = append(all, string(block.Bytes))
	}
}

// versionRow is what a change of Kubernetes' version takes; ok is false if the version is the same.
func versionRow(before, after *resource.Node) (row ruleRow, ok bool) {
	switch {
	case before.Version == after.Version:
		return ruleRow{}, false
	case before.Version == "" || after.Version == "":
		return versionUnknown, true
	case before.Minor == after.Minor:
		return versionPatch, true
	case before.Minor > after.Minor:
		return versionDowngrade, true
	}
	return versionUpgrade, true
}
