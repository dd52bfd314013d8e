package azure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// customCloud is a cloud without a connection to other clouds: it has separate package sources, and its hosts give its machines the time.
// (Azure's cloud provider handles its endpoints, and the trusted certificates its certificate authorities.)
var customCloud = concern.Concern{
	Name:  "custom cloud",
	Joins: true, // an image may be for several clouds
	Reads: []string{repositoryPath},
	Plan:  planCustomCloud,
}

const repositoryPath = "$.cloud.azure.custom.repositoryEndpoint"

func planCustomCloud(in *concern.Input, out *concern.Output) {
	a := in.Config.Cloud.Azure
	if a == nil || a.Custom == nil || a.Custom.RepositoryEndpoint == "" {
		return
	}
	// The contract's URL may be that of Ubuntu's packages; those of others are beside them (AKS: init-aks-cloud.sh).
	endpoint := strings.TrimRight(strings.Replace(a.Custom.RepositoryEndpoint, "/ubuntu", "", 1), "/")
	packages, version := &in.Distro.Packages, in.Facts.OS.VersionID
	switch suite := packages.Suite(version); {
	case len(packages.Repositories) > 0:
		dnfSources(out, endpoint, packages.Repositories)
	case suite != "":
		aptSources(out, endpoint, version, suite)
	default:
		out.Warn(nodeconfig.NotApplied, repositoryPath, "is not applied: it is not known where %s, version %q, has its packages from", concern.SystemName(in), version)
	}
	planClock(in, out)
}

const fromTheCloud = "packages come from the cloud's own copy"

// aptSources has apt read a separate directory instead of the image's sources, which stay unchanged (apt.conf(5), Dir::Etc;
// sources.list(5), deb822). The keys are the image's (ubuntu-keyring, packages-microsoft-prod).
func aptSources(out *concern.Output, endpoint, version, release string) {
	out.File(resource.Join, "/etc/apt/apt.conf.d/95slipway-sources", 0o644, []byte(`Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "/etc/apt/slipway.sources.d";
`), fromTheCloud)
	out.File(resource.Join, "/etc/apt/slipway.sources.d/cloud.sources", 0o644, fmt.Appendf(nil, `Types: deb
URIs: %[1]s/ubuntu
Suites: %[3]s %[3]s-updates %[3]s-backports %[3]s-security
Components: main universe restricted multiverse
Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg

Types: deb
URIs: %[1]s/microsoft/ubuntu/%[2]s/prod
Suites: %[3]s
Components: main
Signed-By: /usr/share/keyrings/microsoft-prod.gpg
`, endpoint, version, release), fromTheCloud)
}

// dnfSources puts the cloud's repositories into the place of the image's (dnf.conf(5)).
func dnfSources(out *concern.Output, endpoint string, repositories []distro.Repository) {
	for _, r := range repositories {
		out.File(resource.Join, "/etc/yum.repos.d/azurelinux-"+r.File+".repo", 0o644, fmt.Appendf(nil, `[azurelinux-official-%[2]s]
name=Azure Linux Official %[2]s $releasever $basearch
baseurl=%[1]s/azurelinux/$releasever/prod/%[2]s/$basearch
gpgkey=file:///etc/pki/rpm-gpg/MICROSOFT-RPM-GPG-KEY
gpgcheck=1
repo_gpgcheck=1
enabled=1
skip_if_unavailable=True
sslverify=1
`, endpoint, r.Name), fromTheCloud)
	}
}

// planClock uses the machine's host as the only time source, if the image's time service is chrony: no time server is reachable
// (chrony.conf(5), refclock PHC; Azure docs, Time sync for Linux VMs).
func planClock(in *concern.Input, out *concern.Output) {
	clock := &in.Distro.Clock
	units := profile.TimeServices() // two names of one unit
	at := slices.IndexFunc(units, func(unit string) bool { return in.ImageUnit(unit) != "" })
	if clock.Config == "" || at < 0 {
		return
	}
	out.File(resource.Join, clock.Config, 0o644, fmt.Appendf(nil, `# The time comes from the machine's host.
refclock PHC /dev/ptp0 poll 3 dpoll -2 offset 0
makestep 1.0 -1
maxupdateskew 100.0
rtcsync
driftfile %s
keyfile %s
logdir /var/log/chrony
`, clock.Drift, clock.Keys), "the cloud reaches no server for the time, and the machine's host has it", units[at])
}
