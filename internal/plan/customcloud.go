package plan

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// customCloud is a cloud that reaches no other: it has packages of its own, and its hosts are what its machines have the time from.
// (Its endpoints are the concern of Azure's cloud provider, and its certificate authorities that of the trusted certificates.)
var customCloud = concern{
	name:  "custom cloud",
	joins: true, // an image may be for several clouds
	reads: []string{repositoryPath},
	plan:  planCustomCloud,
}

const repositoryPath = "$.cloud.azure.custom.repositoryEndpoint"

func planCustomCloud(in *input, out *output) {
	a := in.config.Cloud.Azure
	if a == nil || a.Custom == nil || a.Custom.RepositoryEndpoint == "" {
		return
	}
	// The contract's URL may be that of Ubuntu's packages; those of others are beside them (AKS: init-aks-cloud.sh).
	endpoint := strings.TrimRight(strings.Replace(a.Custom.RepositoryEndpoint, "/ubuntu", "", 1), "/")
	system := &in.facts.OS
	switch release := ubuntuRelease(system.VersionID); {
	case system.ID == "azurelinux":
		dnfSources(out, endpoint)
	case system.ID == "ubuntu" && release != "":
		aptSources(out, endpoint, system.VersionID, release)
	default:
		out.warn(nodeconfig.NotApplied, repositoryPath, "is not applied: it is not known where %s, version %q, has its packages from", systemName(in), system.VersionID)
	}
	planClock(in, out)
}

const fromTheCloud = "packages come from the cloud's own copy"

// ubuntuReleases are the names of Ubuntu's releases, which its packages are below (Ubuntu: List of releases).
var ubuntuReleases = []struct{ version, name string }{{"20.04", "focal"}, {"22.04", "jammy"}, {"24.04", "noble"}, {"26.04", "resolute"}}

// ubuntuRelease is the name of a version; empty for one that is not known.
func ubuntuRelease(version string) string {
	for _, r := range ubuntuReleases {
		if r.version == version {
			return r.name
		}
	}
	return ""
}

// aptSources has apt read a directory of its own in the place of the image's sources, which stay as they are (apt.conf(5), Dir::Etc;
// sources.list(5), deb822). The keys are the image's (ubuntu-keyring, packages-microsoft-prod).
func aptSources(out *output, endpoint, version, release string) {
	out.file(resource.Join, "/etc/apt/apt.conf.d/95slipway-sources", 0o644, []byte(`Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "/etc/apt/slipway.sources.d";
`), fromTheCloud)
	out.file(resource.Join, "/etc/apt/slipway.sources.d/cloud.sources", 0o644, fmt.Appendf(nil, `Types: deb
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

// azureLinuxRepositories are those that a cloud has a copy of. The image has a file for each, which is called like the repository, but
// for one (Azure Linux: azurelinux-repos; AKS: init_azurelinux_repo_depot).
var azureLinuxRepositories = []string{"amd", "base", "cloud-native", "extended", "ms-non-oss", "ms-oss", "nvidia"}

// dnfSources puts the cloud's repositories into the place of the image's (dnf.conf(5)).
func dnfSources(out *output, endpoint string) {
	for _, name := range azureLinuxRepositories {
		file := name
		if name == "base" {
			file = "official-base"
		}
		out.file(resource.Join, "/etc/yum.repos.d/azurelinux-"+file+".repo", 0o644, fmt.Appendf(nil, `[azurelinux-official-%[2]s]
name=Azure Linux Official %[2]s $releasever $basearch
baseurl=%[1]s/azurelinux/$releasever/prod/%[2]s/$basearch
gpgkey=file:///etc/pki/rpm-gpg/MICROSOFT-RPM-GPG-KEY
gpgcheck=1
repo_gpgcheck=1
enabled=1
skip_if_unavailable=True
sslverify=1
`, endpoint, name), fromTheCloud)
	}
}

// clocks are where distributions have chrony's settings, its keys, and what it has learned of the machine's clock, by the
// distribution's ID (os-release(5)). Azure Container Linux has the host's clock built in.
var clocks = []struct{ id, config, keys, drift string }{
	{"azurelinux", "/etc/chrony.conf", "/etc/chrony.keys", "/var/lib/chrony/drift"},
	{"ubuntu", "/etc/chrony/chrony.conf", "/etc/chrony/chrony.keys", "/var/lib/chrony/chrony.drift"},
}

// planClock has the time from the machine's host alone, where the image's time service is chrony: no server for it can be reached
// (chrony.conf(5), refclock PHC; Azure docs, Time sync for Linux VMs).
func planClock(in *input, out *output) {
	for _, c := range clocks {
		for _, unit := range profile.TimeServices() {
			if c.id != in.facts.OS.ID || in.imageUnit(unit) == "" {
				continue
			}
			out.file(resource.Join, c.config, 0o644, fmt.Appendf(nil, `# The time comes from the machine's host.
refclock PHC /dev/ptp0 poll 3 dpoll -2 offset 0
makestep 1.0 -1
maxupdateskew 100.0
rtcsync
driftfile %s
keyfile %s
logdir /var/log/chrony
`, c.drift, c.keys), "the cloud reaches no server for the time, and the machine's host has it", unit)
			return // the other name is another one for the same
		}
	}
}
