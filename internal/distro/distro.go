// Package distro is the table of the Linux distributions that a node can have, one row for each: where a distribution
// keeps trusted certificates, the name of its SSH server, how it updates itself, configures its network and resolves
// names, where its packages come from, and where its programs are. A distribution without a row uses the row of the
// first one in its ID_LIKE (os-release(5)) that has a row.
//
// Facts and the planner read it. It decides nothing about a single node, and touches no machine. It is the only package
// that knows the ID of a distribution; a test (test/arch) holds that. A new distribution is a new row, and its name in
// rows.
package distro

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/versions"
)

// The IDs of distributions that a contract can also name differently.
const (
	AmazonLinux = "amzn"
	Ubuntu      = "ubuntu"
)

// Release is os-release(5) of a machine's operating system.
type Release struct {
	ID        string `json:"id,omitempty"`
	VersionID string `json:"versionID,omitempty"`
	VariantID string `json:"variantID,omitempty"`
	// IDLike are the IDs of similar distributions, separated by spaces, closest first.
	IDLike string `json:"idLike,omitempty"`
}

// Distribution is a row of the table. An empty cell means that the distribution's way is unknown, or that there is
// nothing to do. Nothing changes the table.
type Distribution struct {
	// Name is the distribution's name for people.
	Name string
	// names are the releases of the row; the first row with a match counts.
	names []name
	// like are words of ID_LIKE that select the row, in addition to the IDs of names.
	like []string
	// known reports that a distribution with such an ID_LIKE belongs to the row.
	known bool

	Trust    Trust
	SSH      SSH
	Updates  Updates
	Resolver Resolver
	Network  Network
	Packages Packages
	Clock    Clock
	Login    Login
	Programs Programs
	Cgroups  []Cgroups
	Weakness []Weakness
	// Empty is why a cell is empty, by its name, for instance "Updates.On", if the reason is not the usual one; a group
	// of cells may have one reason. Each empty cell has one.
	Empty map[string]string
}

// name are a release's names in os-release(5). An empty version or variant means any.
type name struct{ id, version, variant string }

func (n name) matches(r Release) bool {
	return n.id == r.ID && (n.version == "" || n.version == r.VersionID) && (n.variant == "" || n.variant == r.VariantID)
}

// Trust is where the certificate authorities are that an administrator trusts.
type Trust struct {
	// Anchors holds one file for each certificate, with the name suffix Extension.
	Anchors, Extension string
	// Tool is the program that builds from them what other programs read; Bundle is the file that most of them read.
	Tool   []string
	Bundle string
	Hashed Hashed
}

// Hashed is a store in which programs find a certificate by the hash of its subject.
type Hashed struct {
	// Links has the links, Packages the certificates of packages, and Selection the list of the enabled ones. Empty
	// means that the distribution does not have them (see resource.TrustStore).
	Links, Packages, Selection string
}

// SSH is the SSH server.
type SSH struct {
	Service, Socket string
	// Config is its configuration. DropIns is the directory of files that it reads before that. Empty means that not
	// every version of the distribution reads one.
	Config, DropIns string
}

// Updates is how a distribution updates itself.
type Updates struct {
	// Settings is a file that turns updates on or off. If empty, the timers alone decide.
	Settings Settings
	// On are the timers that install updates, with their services. Images may mask them.
	On []Timer
	// Instead are timers that only report updates.
	Instead []string
	// Masked are units that install updates, and that other units or the image's links start.
	Masked []string
	// Logind is the drop-in with which the updater shortens logind's delay before a shutdown.
	Logind string
}

// Settings is a file with the texts for on and off.
type Settings struct{ File, Yes, No string }

// Timer is a timer with the service that it starts.
type Timer struct{ Timer, Service string }

// Known reports whether the table has how to turn updates on, or off.
func (u *Updates) Known(on bool) bool {
	return len(u.On) > 0 || !on && len(u.Masked) > 0
}

// Resolver is how a distribution resolves names.
type Resolver struct {
	// Resolved reports that images run systemd-resolved, and Stub that their /etc/resolv.conf names its stub on a
	// loopback address.
	Resolved, Stub bool
	// NetworkManager reports that NetworkManager writes /etc/resolv.conf.
	NetworkManager bool
}

// Network is how a distribution configures its network.
type Network struct {
	// Metric is the highest metric of a route of the first network interface, if systemd-networkd configures it.
	Metric int
	// IgnoresDomains reports that its systemd-networkd does not use the domains in a DHCP lease.
	IgnoresDomains bool
}

// Packages is the source of packages.
type Packages struct {
	// Apt reports that apt installs them, and Snaps that images have programs as snaps.
	Apt, Snaps bool
	// Suites are the names of the releases, by version, below which an archive mirror has packages for apt.
	Suites []Suite
	// Repositories are the repositories of a mirror for dnf, with the image's file for each.
	Repositories []Repository
}

// Suite is the name of a release in an archive.
type Suite struct{ Version, Name string }

// Suite is the name of a version's suite, or "" if unknown.
func (p *Packages) Suite(version string) string {
	if i := slices.IndexFunc(p.Suites, func(s Suite) bool { return s.Version == version }); i >= 0 {
		return p.Suites[i].Name
	}
	return ""
}

// Repository is a repository, and the file of the image that names it.
type Repository struct{ Name, File string }

// Clock are chrony's files: its settings, its keys, and its data about the machine's clock.
type Clock struct{ Config, Keys, Drift string }

// Login is what a user sees at login.
type Login struct {
	// Scripts is the directory of scripts that print a message.
	Scripts string
}

// Programs are the paths of programs in images, the usual path first.
type Programs struct {
	Containerd, Runc, Kubelet []string
	// Credentials are image credential providers of the kubelet.
	Credentials []string
	// Token is the program that gets a token for a node on images for EKS, if that is not aws-iam-authenticator.
	Token string
}

// Cgroups is the version of the control groups from a release on. An empty From means the first release.
type Cgroups struct {
	From    string
	Version int
}

// CgroupVersion is the version of the control groups with which a release starts. 0 means unknown.
func (d *Distribution) CgroupVersion(version string) (cgroups int) {
	if version == "" && len(d.Cgroups) > 1 {
		return 0
	}
	for _, c := range d.Cgroups {
		if c.From == "" || versions.CompareNumbers(version, c.From) >= 0 {
			cgroups = c.Version
		}
	}
	return cgroups
}

// Weakness is a release whose kernels have vulnerable modules until they are fixed (AKS: kernel module mitigation). A
// release that is not in the table was never vulnerable, or gets the fix with its image.
type Weakness struct {
	// Version is the version in os-release(5).
	Version string
	// Fixes are the kernels with the fix. A flavour without one is vulnerable in each version.
	Fixes []Fix
}

// Fix is the first fixed kernel of a flavour: "5.15.0-1116".
type Fix struct{ Flavour, From string }

// Fixed reports whether the table has a release, by its version, and whether its kernel has the fix.
func (d *Distribution) Fixed(version, kernel string) (listed, fixed bool) {
	at := slices.IndexFunc(d.Weakness, func(w Weakness) bool { return w.Version == version })
	return at >= 0, at >= 0 && slices.ContainsFunc(d.Weakness[at].Fixes, func(fix Fix) bool {
		release, found := strings.CutSuffix(kernel, "-"+fix.Flavour)
		return found && versions.CompareNumbers(release, fix.From) >= 0
	})
}

// unknown is the row of an unknown distribution. Its programs are searched at the most usual paths.
var unknown = Distribution{Programs: packaged}

// Of returns the distribution of a release. like is the ID of ID_LIKE that selected the row, or "" if the table has the
// release itself. An unknown distribution has no name.
func Of(r Release) (d *Distribution, like string) {
	for _, d := range rows {
		if slices.ContainsFunc(d.names, func(n name) bool { return n.matches(r) }) {
			return d, ""
		}
	}
	for _, like := range append([]string{r.ID}, strings.Fields(r.IDLike)...) {
		for _, d := range rows {
			switch {
			case !slices.Contains(d.like, like) && !slices.Contains(d.names, name{id: like}):
			case d.known:
				return d, ""
			default:
				return d.withoutReleases(), like
			}
		}
	}
	return &unknown, ""
}

// Reason is why a cell, or a whole group of cells, is empty. It is "" if there is no reason.
func (d *Distribution) Reason(cell string) string {
	for _, reasons := range []map[string]string{d.Empty, usual} {
		for name := cell; ; {
			if reason := reasons[name]; reason != "" {
				return reason
			}
			dot := strings.LastIndexByte(name, '.')
			if dot < 0 {
				break
			}
			name = name[:dot]
		}
	}
	return ""
}

// withoutReleases is a row for a distribution with other releases and another archive.
func (d *Distribution) withoutReleases() *Distribution {
	similar := *d
	similar.Cgroups, similar.Weakness, similar.Packages = nil, nil, Packages{Apt: d.Packages.Apt}
	return &similar
}

// SSHServers are the possible servers of a machine with an unknown distribution. All of them read the same file.
func SSHServers() (all []SSH) {
	for _, d := range rows {
		if d.SSH.DropIns == "" && !slices.Contains(all, d.SSH) {
			all = append(all, d.SSH)
		}
	}
	return all
}

// All are the rows, in the table's order.
func All() []*Distribution { return slices.Clone(rows) }

// IDs are all words that select a row, sorted: IDs, variants and the words of ID_LIKE.
func IDs() []string {
	var all []string
	for _, d := range rows {
		all = append(all, d.like...)
		for _, n := range d.names {
			all = append(all, n.id, n.variant)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(id string) bool { return id == "" })
}
