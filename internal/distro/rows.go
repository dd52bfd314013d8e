package distro

// rows is the table. A row for one version or variant of an ID precedes the row for all of them.
var rows = []*Distribution{
	&debian,
	&ubuntu,
	&azureLinux2,
	&azureContainerLinux,
	&azureLinuxOSGuard,
	&azureLinux3,
	&flatcar,
	&amazonLinux2,
	&amazonLinux2023,
	&redHat,
	&suse,
}

var (
	// debianTrust accepts files that end in .crt, with one certificate each. Without --fresh, links to removed files
	// stay (update-ca-certificates(8); AKS node contract, custom_ca_certs).
	debianTrust = Trust{
		Anchors: "/usr/local/share/ca-certificates", Extension: ".crt", Tool: []string{"update-ca-certificates", "--fresh"},
		Bundle: "/etc/ssl/certs/ca-certificates.crt",
		Hashed: Hashed{Links: "/etc/ssl/certs", Packages: "/usr/share/ca-certificates", Selection: "/etc/ca-certificates.conf"},
	}
	// p11Trust is the store of p11-kit (update-ca-trust(8)). AKS uses the directory below /usr that is for packages, on
	// the same machines. Only the tool builds the files that programs read for other purposes than TLS.
	p11Trust = Trust{
		Anchors: "/etc/pki/ca-trust/source/anchors", Extension: ".crt", Tool: []string{"update-ca-trust", "extract"},
		Bundle: "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	}

	debianSSH = SSH{Service: "ssh.service", Socket: "ssh.socket", Config: sshdConfig}
	otherSSH  = SSH{Service: "sshd.service", Socket: "sshd.socket", Config: sshdConfig}

	// aptUpdates are the updates of apt's daily job (/usr/lib/apt/apt.systemd.daily, APT::Periodic). The drop-in of
	// unattended-upgrades is debian/unattended-upgrades-logind-maxdelay.conf.
	aptUpdates = Updates{
		Settings: Settings{
			File: "/etc/apt/apt.conf.d/99periodic",
			Yes:  "APT::Periodic::Update-Package-Lists \"1\";\nAPT::Periodic::Unattended-Upgrade \"1\";\n",
			No:   "APT::Periodic::Update-Package-Lists \"0\";\nAPT::Periodic::Unattended-Upgrade \"0\";\n",
		},
		On:     []Timer{{"apt-daily.timer", "apt-daily.service"}, {"apt-daily-upgrade.timer", "apt-daily-upgrade.service"}},
		Logind: "/etc/systemd/logind.conf.d/unattended-upgrades-logind-maxdelay.conf",
	}
	// dnfUpdates are the updates of DNF Automatic.
	dnfUpdates = Updates{
		On:      []Timer{{"dnf-automatic-install.timer", "dnf-automatic-install.service"}},
		Instead: []string{"dnf-automatic-notifyonly.timer"},
	}

	// anyDNFUpdates are the same, with the timer whose settings decide whether it installs updates.
	anyDNFUpdates = Updates{On: dnfUpdates.On, Instead: dnfUpdates.Instead, Masked: []string{"dnf-automatic.timer"}}

	// chrony has the files of most distributions' package, chronyd(8).
	chrony       = Clock{Config: "/etc/chrony.conf", Keys: "/etc/chrony.keys", Drift: "/var/lib/chrony/drift"}
	debianChrony = Clock{Config: "/etc/chrony/chrony.conf", Keys: "/etc/chrony/chrony.keys", Drift: "/var/lib/chrony/chrony.drift"}

	// ecrProviders are the paths of the image credential provider for Amazon's registries on images for EKS: EKS's and
	// Canonical's (Amazon EKS AMI: install-worker.sh; Canonical: Ubuntu on AWS, EKS images, bootstrap.sh).
	ecrProviders = []string{"/etc/eks/image-credential-provider/ecr-credential-provider", "/etc/eks/ecr-credential-provider"}

	// packaged are the paths of most distributions' packages, and of containerd's release archives.
	packaged = Programs{
		Containerd:  []string{"/usr/bin/containerd", "/usr/local/bin/containerd"},
		Runc:        []string{"/usr/bin/runc", "/usr/sbin/runc", "/usr/local/sbin/runc"},
		Kubelet:     []string{"/usr/bin/kubelet", "/opt/bin/kubelet"},
		Credentials: ecrProviders,
	}
	// onAKS are the paths on AKS images (AKS: VHD_LOGS, installCredentialProvider).
	onAKS = Programs{Containerd: packaged.Containerd, Runc: packaged.Runc, Kubelet: packaged.Kubelet, Credentials: []string{acrProvider}}
	// onEKS are the paths on EKS images (amazon-eks-ami: install-worker.sh; nodeadm: defaultRuntimeBinaryPath).
	onEKS = Programs{
		Containerd: packaged.Containerd, Runc: []string{"/usr/sbin/runc"}, Kubelet: packaged.Kubelet,
		Credentials: ecrProviders,
	}
	// onAL2023 are the same, without aws-iam-authenticator (amazon-eks-ami: al2023, install-worker.sh).
	onAL2023 = Programs{Containerd: onEKS.Containerd, Runc: onEKS.Runc, Kubelet: onEKS.Kubelet, Credentials: onEKS.Credentials, Token: "/usr/bin/aws"}
)

const (
	sshdConfig  = "/etc/ssh/sshd_config"
	acrProvider = "/var/lib/kubelet/credential-provider/acr-credential-provider"

	// networkdMetric is above the metric of networkd's routes, 1024, and of Amazon's routes, 512 and some
	// (systemd.network(5), RouteMetric=; amazon-ec2-net-utils). AKS has the same for secondary interfaces.
	networkdMetric = 2000
)

// usual are the reasons for empty cells in most rows.
var usual = map[string]string{
	"Trust.Hashed":            "programs read the bundle, and nothing by the hash of a subject",
	"SSH.DropIns":             "older versions read no other file: the setting precedes all others in the main one",
	"Updates.Settings":        "the timers alone decide",
	"Updates.Instead":         "no other timer reports updates",
	"Updates.Masked":          "the timers do it",
	"Updates.Logind":          "no package has such a drop-in",
	"Resolver.Stub":           "/etc/resolv.conf names the servers themselves",
	"Resolver.NetworkManager": "systemd-resolved does",
	"Packages":                "no cloud is known to have a copy",
	"Login":                   "/etc/motd is all there is",
	"Programs.Token":          "aws-iam-authenticator gets it, where an image is for EKS",
	"Programs.Credentials":    "each cloud's images have another place",
	"Weakness":                "its kernels were never vulnerable, or it gets the fix with the image",
}

// Reasons of several rows.
const (
	noSnaps     = "its packages are no snaps"
	domainsUsed = "its images see to it themselves"
	manager     = "another service configures the network, unless the facts say that it is systemd-networkd"
	noMirror    = "no cloud is known to have a copy"
)

var debian = Distribution{
	Name:     "Debian",
	names:    []name{{id: "debian"}},
	Trust:    debianTrust,
	SSH:      debianSSH,
	Updates:  aptUpdates,
	Packages: Packages{Apt: true},
	Clock:    debianChrony,
	Programs: packaged,
	Cgroups:  []Cgroups{{"", 1}, {"11", 2}}, // Debian 11 release notes, control groups v2
	Empty: map[string]string{
		"Resolver":               "images differ",
		"Network.Metric":         "images differ: the facts say whether systemd-networkd runs",
		"Network.IgnoresDomains": domainsUsed,
		"Packages.Snaps":         noSnaps,
		"Packages.Suites":        noMirror,
		"Packages.Repositories":  "apt has no repositories of dnf's",
	},
}

var ubuntu = Distribution{
	Name:     "Ubuntu",
	names:    []name{{id: "ubuntu"}},
	Trust:    debianTrust,
	SSH:      debianSSH,
	Updates:  aptUpdates,
	Resolver: Resolver{Resolved: true, Stub: true},
	Network:  Network{Metric: 100}, // netplan's (netplan-yaml(5), route-metric)
	Packages: Packages{
		Apt: true, Snaps: true,
		Suites: []Suite{{"20.04", "focal"}, {"22.04", "jammy"}, {"24.04", "noble"}, {"26.04", "resolute"}}, // Ubuntu: List of releases
	},
	Clock: debianChrony,
	Login: Login{Scripts: "/etc/update-motd.d"}, // update-motd(5)
	Programs: Programs{
		Containerd: packaged.Containerd, Runc: packaged.Runc, Kubelet: packaged.Kubelet,
		Credentials: []string{acrProvider, "/etc/eks/ecr-credential-provider", "/etc/eks/image-credential-provider/ecr-credential-provider"},
	},
	Cgroups: []Cgroups{{"", 1}, {"21.10", 2}}, // Ubuntu 21.10 release notes
	Weakness: []Weakness{
		{Version: "20.04"},
		{Version: "22.04", Fixes: []Fix{
			{"azure", "5.15.0-1116"}, {"azure-fde", "5.15.0-1116"}, {"azure-fips", "5.15.0-1116"}, {"generic", "5.15.0-181"},
		}},
		{Version: "24.04", Fixes: []Fix{{"azure", "6.8.0-1058"}, {"generic", "6.8.0-124"}}},
	},
	Empty: map[string]string{
		"Network.IgnoresDomains": domainsUsed,
		"Packages.Repositories":  "apt has no repositories of dnf's",
	},
}

var azureLinux2 = Distribution{
	Name:     "Azure Linux 2",
	names:    []name{{id: "mariner"}},
	Trust:    p11Trust,
	SSH:      otherSSH,
	Updates:  dnfUpdates,
	Resolver: Resolver{Resolved: true},
	Network:  Network{Metric: networkdMetric, IgnoresDomains: true},
	Clock:    chrony,
	Programs: onAKS,
	Weakness: []Weakness{{Version: "2.0"}},
	Empty: map[string]string{
		"Packages": "no release is made any more",
		"Cgroups":  "images differ: the facts say it",
	},
}

// azureContainerLinux is an image like Flatcar's, built from Azure Linux's packages. Older images have another ID (AKS:
// isACL).
var azureContainerLinux = Distribution{
	Name:     "Azure Container Linux",
	names:    []name{{id: "azurecontainerlinux"}, {id: "azurelinux", variant: "azurecontainerlinux"}},
	Trust:    p11Trust,
	SSH:      otherSSH,
	Updates:  Updates{Masked: []string{"systemd-sysupdate.timer", "update-engine.service"}}, // AKS images: acl-customdata.yaml, systemd-sysupdate
	Resolver: Resolver{Resolved: true},
	Network:  Network{Metric: networkdMetric, IgnoresDomains: true},
	Programs: onAKS,
	Cgroups:  []Cgroups{{"", 2}},
	Empty: map[string]string{
		"Updates.On": "a node gets a new image",
		"Packages":   "the image has no package manager",
		"Clock":      "chronyd has the host's clock built in (AKS: init-aks-cloud.sh)",
	},
}

// azureLinuxOSGuard is an immutable image of Azure Linux 3.
var azureLinuxOSGuard = Distribution{
	Name:     "Azure Linux 3 with OS Guard",
	names:    []name{{id: "azurelinux", variant: "osguard"}},
	Trust:    p11Trust,
	SSH:      otherSSH,
	Updates:  Updates{Masked: []string{"dnf-automatic-install.timer"}},
	Resolver: Resolver{Resolved: true},
	Network:  Network{Metric: networkdMetric, IgnoresDomains: true},
	Packages: azureLinux3.Packages,
	Clock:    chrony,
	Programs: onAKS,
	Cgroups:  []Cgroups{{"", 2}},
	Weakness: []Weakness{{Version: "3.0"}},
	Empty: map[string]string{
		"Updates.On":      "a node gets a new image (AKS: enable_unattended_upgrade)",
		"Packages.Apt":    "dnf installs packages",
		"Packages.Snaps":  noSnaps,
		"Packages.Suites": "dnf has no suites",
	},
}

var azureLinux3 = Distribution{
	Name:     "Azure Linux 3",
	names:    []name{{id: "azurelinux"}},
	Trust:    p11Trust,
	SSH:      otherSSH,
	Updates:  dnfUpdates,
	Resolver: Resolver{Resolved: true},
	Network:  Network{Metric: networkdMetric, IgnoresDomains: true},
	// A file has its repository's name, with one exception (Azure Linux: azurelinux-repos; AKS:
	// init_azurelinux_repo_depot).
	Packages: Packages{Repositories: []Repository{
		{"amd", "amd"}, {"base", "official-base"}, {"cloud-native", "cloud-native"}, {"extended", "extended"},
		{"ms-non-oss", "ms-non-oss"}, {"ms-oss", "ms-oss"}, {"nvidia", "nvidia"},
	}},
	Clock:    chrony,
	Programs: onAKS,
	Cgroups:  []Cgroups{{"", 2}},
	Empty: map[string]string{
		"Packages.Apt":    "dnf installs packages",
		"Packages.Snaps":  noSnaps,
		"Packages.Suites": "dnf has no suites",
	},
}

var flatcar = Distribution{
	Name:  "Flatcar",
	names: []name{{id: "flatcar"}},
	like:  []string{"coreos"},
	// Programs read the directory itself; the tool links each file by the hash of its subject (Flatcar docs, Adding
	// certificate authorities; AKS: update_certs.sh).
	Trust: Trust{
		Anchors: "/etc/ssl/certs", Extension: ".pem", Tool: []string{"update-ca-certificates"},
		Bundle: "/etc/ssl/certs/ca-certificates.crt", Hashed: Hashed{Links: "/etc/ssl/certs"},
	},
	SSH:      otherSSH,
	Updates:  Updates{Masked: []string{"locksmithd.service", "update-engine.service"}}, // Flatcar docs, Update and reboot strategies
	Resolver: Resolver{Resolved: true},
	Network:  Network{Metric: networkdMetric},
	Programs: onAKS,
	Cgroups:  []Cgroups{{"", 1}, {"2969", 2}}, // Flatcar docs, Switching to unified cgroups
	Empty: map[string]string{
		"Trust.Hashed.Packages":  "all certificates are in one directory",
		"Trust.Hashed.Selection": "all certificates are in one directory",
		"Updates.On":             "an image updates itself by default, in a way that depends on its channel",
		"Network.IgnoresDomains": domainsUsed,
		"Packages":               "the image has no package manager",
		"Clock":                  "systemd-timesyncd sets it",
	},
}

var amazonLinux2 = Distribution{
	Name:     "Amazon Linux 2",
	names:    []name{{id: "amzn", version: "2"}},
	Trust:    p11Trust,
	SSH:      otherSSH,
	Updates:  Updates{Masked: []string{"yum-cron.service"}}, // yum-cron(8)
	Clock:    chrony,
	Programs: Programs{Containerd: onEKS.Containerd, Runc: []string{"/usr/sbin/runc", "/usr/bin/runc"}, Kubelet: onEKS.Kubelet, Credentials: onEKS.Credentials},
	Cgroups:  []Cgroups{{"", 1}}, // its systemd is of version 219
	Empty: map[string]string{
		"SSH.DropIns": "its OpenSSH, 7.4, reads no other file",
		"Updates.On":  "images do not have yum-cron, and no timer starts it",
		"Resolver":    "dhclient writes /etc/resolv.conf",
		"Network":     "network-scripts configures the network",
	},
}

var amazonLinux2023 = Distribution{
	Name:     "Amazon Linux 2023",
	names:    []name{{id: "amzn"}},
	Trust:    p11Trust,
	SSH:      otherSSH,
	Updates:  anyDNFUpdates,
	Resolver: Resolver{Resolved: true}, // AL2023 user guide, networking; amazon-eks-ami: nodeadm, systemd-resolved
	Network:  Network{Metric: networkdMetric},
	Clock:    chrony,
	Programs: onAL2023,
	Cgroups:  []Cgroups{{"", 2}}, // AL2023 user guide, comparing AL2 and AL2023
	Empty: map[string]string{
		"Network.IgnoresDomains": "amazon-ec2-net-utils sets UseDomains=",
	},
}

// redHat is Red Hat Enterprise Linux and its rebuilds.
var redHat = Distribution{
	Name:     "Red Hat Enterprise Linux and its rebuilds",
	names:    []name{{id: "rhel"}, {id: "rocky"}, {id: "almalinux"}, {id: "centos"}, {id: "ol"}},
	like:     []string{"fedora"},
	Trust:    p11Trust,
	SSH:      otherSSH,
	Updates:  anyDNFUpdates,
	Resolver: Resolver{NetworkManager: true},
	Clock:    chrony,
	Programs: packaged,
	Cgroups:  []Cgroups{{"", 1}, {"9", 2}}, // RHEL 9: Considerations in adopting RHEL 9, control groups
	Empty: map[string]string{
		"Resolver.Resolved":      "it is in no image by default",
		"Resolver.Stub":          "NetworkManager writes the servers themselves",
		"Network.Metric":         manager,
		"Network.IgnoresDomains": "NetworkManager uses them",
	},
}

// suse is SUSE Linux Enterprise and openSUSE, which have many IDs: "sles", "sl-micro", "opensuse-leap".
var suse = Distribution{
	Name:  "SUSE Linux Enterprise and openSUSE",
	like:  []string{"suse", "opensuse"},
	known: true,
	// The tool differs from Debian's (SUSE: ca-certificates, /usr/lib/ca-certificates/update.d).
	Trust: Trust{
		Anchors: "/etc/pki/trust/anchors", Extension: ".pem", Tool: []string{"update-ca-certificates"}, Bundle: "/var/lib/ca-certificates/ca-bundle.pem",
	},
	// Newer releases have the main file in /usr/etc, and read it only if /etc has none (openSUSE: openssh,
	// sshd_config.d).
	SSH:     SSH{Service: "sshd.service", Socket: "sshd.socket", Config: sshdConfig, DropIns: "/etc/ssh/sshd_config.d"},
	Updates: Updates{Masked: []string{"os-update.timer", "transactional-update.timer"}}, // openSUSE: os-update, transactional-update(8)
	Clock:   chrony,
	Programs: Programs{
		Containerd: append([]string{"/usr/sbin/containerd"}, packaged.Containerd...), // openSUSE: containerd.spec, runc.spec
		Runc:       []string{"/usr/sbin/runc", "/usr/bin/runc"},
		Kubelet:    packaged.Kubelet, Credentials: ecrProviders,
	},
	Empty: map[string]string{
		"Trust.Hashed":           "the tool makes a directory with links itself",
		"Updates.On":             "releases differ: zypper patch, os-update or transactional-update",
		"Resolver":               "releases differ: netconfig or NetworkManager",
		"Network.Metric":         manager,
		"Network.IgnoresDomains": "wicked and NetworkManager use them",
		"Cgroups":                "releases differ: the facts say it",
	},
}
