package plan

import (
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
	if from, known := packageSources[in.facts.OS.ID]; known {
		from(in, out, endpoint)
	} else {
		out.warn(nodeconfig.NotApplied, repositoryPath, "is not applied: it is not known where %s names the sources of its packages", systemName(in))
	}
	planClock(in, out)
}

// packageSources have a distribution take its packages from a cloud's own copy, by the distribution's ID (os-release(5)).
var packageSources = map[string]func(in *input, out *output, endpoint string){
	"azurelinux": dnfSources,
	"ubuntu":     aptSources,
}

const fromTheCloud = "packages come from the cloud's own copy"

// ubuntuReleases are the names of Ubuntu's releases, by version (Ubuntu: List of releases).
var ubuntuReleases = map[string]string{"20.04": "focal", "22.04": "jammy", "24.04": "noble", "26.04": "resolute"}

// aptSources has apt read a directory of its own in the place of the image's sources, which stay as they are (apt.conf(5), Dir::Etc;
// sources.list(5), deb822). The keys are the image's (ubuntu-keyring, packages-microsoft-prod).
func aptSources(in *input, out *output, endpoint string) {
	release, known := ubuntuReleases[in.facts.OS.VersionID]
	if !known {
		out.warn(nodeconfig.NotApplied, repositoryPath, "is not applied: the name of Ubuntu %s is not known, and its packages have it", in.facts.OS.VersionID)
		return
	}
	const dir = "/etc/apt/slipway.sources.d"
	out.file(resource.Join, "/etc/apt/apt.conf.d/95slipway-sources", 0o644,
		unitFile(`Dir::Etc::SourceList "/dev/null";`, `Dir::Etc::SourceParts "`+dir+`";`), fromTheCloud)
	suites := []string{release, release + "-updates", release + "-backports", release + "-security"}
	out.file(resource.Join, dir+"/cloud.sources", 0o644, unitFile(
		"Types: deb",
		"URIs: "+endpoint+"/ubuntu",
		"Suites: "+strings.Join(suites, " "),
		"Components: main universe restricted multiverse",
		"Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg",
		"",
		"Types: deb",
		"URIs: "+endpoint+"/microsoft/ubuntu/"+in.facts.OS.VersionID+"/prod",
		"Suites: "+release,
		"Components: main",
		"Signed-By: /usr/share/keyrings/microsoft-prod.gpg",
	), fromTheCloud)
}

// azureLinuxRepositories are the image's files for the repositories that a cloud has a copy of, and what the repositories are called
// in URLs (Azure Linux: azurelinux-repos; AKS: init_azurelinux_repo_depot).
var azureLinuxRepositories = []struct{ file, name string }{
	{"azurelinux-amd", "amd"},
	{"azurelinux-official-base", "base"},
	{"azurelinux-cloud-native", "cloud-native"},
	{"azurelinux-extended", "extended"},
	{"azurelinux-ms-non-oss", "ms-non-oss"},
	{"azurelinux-ms-oss", "ms-oss"},
	{"azurelinux-nvidia", "nvidia"},
}

// dnfSources puts the cloud's repositories into the place of the image's (dnf.conf(5)).
func dnfSources(_ *input, out *output, endpoint string) {
	for _, r := range azureLinuxRepositories {
		out.file(resource.Join, "/etc/yum.repos.d/"+r.file+".repo", 0o644, unitFile(
			"[azurelinux-official-"+r.name+"]",
			"name=Azure Linux Official "+r.name+" $releasever $basearch",
			"baseurl="+endpoint+"/azurelinux/$releasever/prod/"+r.name+"/$basearch",
			"gpgkey=file:///etc/pki/rpm-gpg/MICROSOFT-RPM-GPG-KEY",
			"gpgcheck=1",
			"repo_gpgcheck=1",
			"enabled=1",
			"skip_if_unavailable=True",
			"sslverify=1",
		), fromTheCloud)
	}
}

// clock is where a distribution has chrony's settings, keys, and what it has learned of the machine's clock.
type clock struct{ config, keys, drift string }

var (
	debianClock = clock{"/etc/chrony/chrony.conf", "/etc/chrony/chrony.keys", "/var/lib/chrony/chrony.drift"}
	redHatClock = clock{"/etc/chrony.conf", "/etc/chrony.keys", "/var/lib/chrony/drift"}
)

// clocks are those that are known, by the distribution's ID (os-release(5)). Azure Container Linux has the host's clock built in.
var clocks = map[string]clock{"azurelinux": redHatClock, "mariner": redHatClock, "ubuntu": debianClock}

// planClock has the time from the machine's host alone, where the image's time service is chrony: no server for it can be reached
// (chrony.conf(5), refclock PHC; Azure docs, Time sync for Linux VMs).
func planClock(in *input, out *output) {
	c, known := clocks[in.facts.OS.ID]
	for _, unit := range profile.TimeServices() {
		if !known || in.imageUnit(unit) == "" {
			continue
		}
		out.file(resource.Join, c.config, 0o644, unitFile(
			"# The time comes from the machine's host.",
			"refclock PHC /dev/ptp0 poll 3 dpoll -2 offset 0",
			"makestep 1.0 -1",
			"maxupdateskew 100.0",
			"rtcsync",
			"driftfile "+c.drift,
			"keyfile "+c.keys,
			"logdir /var/log/chrony",
		), "the time comes from the machine's host, because the cloud reaches no server for it", unit)
		return
	}
}
