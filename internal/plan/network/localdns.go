package network

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// localDNS runs a DNS cache on the node: CoreDNS of the image, under a supervisor that is a command of the agent
// (internal/localdns). Nothing here changes the machine's resolver: the supervisor does, when the cache is ready.
var localDNS = concern.Concern{
	Name:  "local DNS",
	Joins: true,
	Reads: []string{"$.cluster.dnsServiceIPs", "$.cluster.serviceCIDRs", "$.kubelet.config", "$.kubelet.flags", setting.LocalDNS, setting.Nameservers},
	Plan:  planLocalDNS,
}

const (
	// localDNSUnit is the supervisor's, and localDNSSlice has its limits, which are also the cache's (AKS: localdns.service,
	// localdns.slice).
	localDNSUnit  = "localdns.service"
	localDNSSlice = "localdns.slice"
	// localDNSPatience is how long the cache may take to be ready, with the machine's network.
	localDNSPatience = resource.Duration(90 * time.Second)
	// hostsRefresh is the default interval for resolving the names again (AKS: aks-localdns-hosts-setup.timer).
	hostsRefresh = 15 * time.Minute
	defaultDNS   = "."
)

func planLocalDNS(in *concern.Input, out *concern.Output) {
	dns := in.Config.Network.LocalDNS
	if dns == nil || concern.NoLocalDNS(in) != "" {
		unusedDNSService(in, out)
	}
	if dns == nil {
		return
	}
	needed := asksLocalDNS(in.Config)
	if reason := concern.NoLocalDNS(in); reason != "" {
		p := nodeconfig.Problem{Kind: nodeconfig.NotApplied, Path: setting.LocalDNS, Reason: "is not applied: " + reason, Fatal: needed}
		if needed {
			p.Reason += "; pods would send their queries to a DNS server that is not there"
		}
		out.Add(p)
		return
	}
	for i, ip := range in.Config.Cluster.DNSServiceIPs {
		if ip == dnscache.HostListener || ip == dnscache.PodsListener {
			out.Fatal(nodeconfig.Invalid, document.IndexPath("$.cluster.dnsServiceIPs", i),
				"is the address of the node's own DNS cache, which would ask itself; give the cluster's DNS service here, and the cache's to the kubelet")
			return
		}
	}
	planCorefile(in, out, dns)
	planLocalDNSUnits(in, out, dns)
	check := func(requires []resource.ID, code int, reason string, c *resource.Check) {
		c.Advisory = !needed
		out.Join("", c, code, reason).Requires = requires
	}
	slice := &resource.Unit{Unit: localDNSSlice}
	out.Join("", slice, exitcode.LocalDNSSliceMissing,
		"the DNS cache starts with the unit that has its limits: so a cache that does not start fails a check, and no unit")
	check(nil, exitcode.LocalDNSBinaryMissing, "systemd would skip the DNS cache without it, without an error",
		&resource.Check{Label: "local-dns-program", PathExists: in.CoreDNS})
	check([]resource.ID{resource.IDOf(slice)}, exitcode.LocalDNSFailed, "the DNS cache is ready; otherwise the resolver stays as it was",
		&resource.Check{Label: "local-dns", UnitActive: localDNSUnit, Timeout: localDNSPatience})
}

// unusedDNSService reports that neither a cache on the node uses the cluster's DNS service, nor the kubelet, because the
// contract alone decides its configuration.
func unusedDNSService(in *concern.Input, out *concern.Output) {
	c := in.Config
	if in.Family.Kubelet.ConfigDefaults {
		return
	}
	if len(c.Cluster.DNSServiceIPs) > 0 && setting.DNSServers(c) == "$.cluster.dnsServiceIPs" {
		out.NotApplied("$.cluster.dnsServiceIPs")
	}
	if len(c.Cluster.ServiceCIDRs) > 0 {
		out.NotApplied("$.cluster.serviceCIDRs")
	}
}

// planCorefile plans the cache's configuration, in the variant that the names need.
func planCorefile(in *concern.Input, out *concern.Output, dns *nodeconfig.LocalDNS) {
	declineZones(out, dns)
	config, own := *in.Config, *dns
	own.Host, own.Pods = withDefault(dns.Host, "VnetDNS"), withDefault(dns.Pods, "ClusterCoreDNS")
	config.Network.LocalDNS = &own
	c := in.Family.LocalDNS
	out.Append(resource.Resource{
		Phase: resource.Join, Effects: resource.Restarting(localDNSSlice), ExitCode: exitcode.LocalDNSCorefileMissing,
		Reason: concern.Sourced("the DNS cache's configuration", c.Source),
		Spec:   &resource.File{Path: c.Corefile, Mode: 0o600, Content: dnscache.Corefile(&config, len(hostNames(dns)) > 0)},
	})
}

// withDefault adds a server block for all other names. Without it, the cache would refuse such queries, and pods use no other
// server.
func withDefault(zones map[string]nodeconfig.LocalDNSZone, to string) map[string]nodeconfig.LocalDNSZone {
	all := maps.Clone(zones)
	if _, ok := all[defaultDNS]; !ok {
		if all == nil {
			all = make(map[string]nodeconfig.LocalDNSZone)
		}
		all[defaultDNS] = nodeconfig.LocalDNSZone{ForwardTo: to}
	}
	return all
}

// declineZones reports settings that a server block cannot have (AKS node contract, LocalDnsOverrides).
func declineZones(out *concern.Output, dns *nodeconfig.LocalDNS) {
	for _, side := range []struct {
		at    string
		zones map[string]nodeconfig.LocalDNSZone
		root  bool
	}{{setting.LocalDNS + ".host", dns.Host, true}, {setting.LocalDNS + ".pods", dns.Pods, false}} {
		for _, domain := range slices.Sorted(maps.Keys(side.zones)) {
			zone, at := side.zones[domain], document.FieldPath(side.at, domain)
			if zone.ServeStalePolicy != "" && (domain != defaultDNS || dnscache.Stale[zone.ServeStale] == "") {
				out.Warn(nodeconfig.NotApplied, at+".serveStalePolicy", "is not applied: it counts for the domain . alone, with serveStale")
			}
			if check := zone.HealthCheck; check != nil && check.Interval == 0 {
				out.Warn(nodeconfig.NotApplied, at+".healthCheck", "is not applied: it has no interval")
			}
			switch {
			case domain == defaultDNS && side.root && zone.ForwardTo == "ClusterCoreDNS":
				out.Warn(nodeconfig.NotApplied, at+".forwardTo", "is not applied: the host's queries go to the machine's own DNS servers, which it needs to join the cluster")
			case strings.HasSuffix(domain, dnscache.ClusterDomain) && zone.ForwardTo == "VnetDNS":
				out.Warn(nodeconfig.NotApplied, at+".forwardTo", "is not applied: only the cluster's DNS service knows these names")
			}
		}
	}
}

// hostNames are the names that must resolve although DNS is down.
func hostNames(dns *nodeconfig.LocalDNS) []string {
	if dns.Hosts == nil {
		return nil
	}
	return dns.Hosts.Names
}

// planLocalDNSUnits plans the supervisor's unit and its slice.
func planLocalDNSUnits(in *concern.Input, out *concern.Output, dns *nodeconfig.LocalDNS) {
	add := func(code int, reason string, spec resource.Spec) {
		out.Join("", spec, code, reason).Effects = resource.Restarting(localDNSSlice)
	}
	cpu, memory := dnscache.Limits(dns)
	add(exitcode.LocalDNSSliceMissing, concern.Sourced("what the DNS cache may take", in.Family.LocalDNS.Source), &resource.File{
		Path: resource.UnitDir + "/" + localDNSSlice, Mode: 0o644, Content: unitfile.File(
			unitfile.Section("Unit"),
			unitfile.Set("Description", "What the node's DNS cache may take"),
			unitfile.Set("DefaultDependencies", "no"),
			unitfile.Set("Requires", concern.SystemSlice),
			unitfile.Set("After", concern.SystemSlice),
			unitfile.Set("Before", "slices.target"),
			unitfile.Section("Slice"),
			unitfile.Set("CPUQuota", unitfile.Text(cpu)), // a percent sign is the unit, and no specifier (systemd.resource-control(5))
			unitfile.Set("MemoryMax", unitfile.Quote(memory)),
		),
	})
	add(exitcode.LocalDNSFailed, concern.Sourced("supervises the DNS cache", in.Family.LocalDNS.Source), &resource.File{
		Path: resource.UnitDir + "/" + localDNSUnit, Mode: 0o644, Content: unitfile.File(localDNSLines(in, dns)...),
	})
	out.Enable(resource.Join, localDNSUnit)
	out.Join("", &resource.Symlink{Path: resource.UnitDir + "/" + localDNSSlice + ".wants/" + localDNSUnit, Target: resource.UnitDir + "/" + localDNSUnit},
		0, "who starts the slice starts the cache, and does not fail with it")
	if concern.ExportsDNS(in) {
		add(exitcode.LocalDNSFailed, concern.Sourced("only the cluster reaches the numbers of the DNS cache", in.Family.LocalDNS.Source), &resource.File{
			Path: resource.UnitDir + "/" + facts.DNSExporterUnit + ".d/10-node-address.conf", Mode: 0o644, Content: unitfile.File(
				unitfile.Section("Unit"),
				unitfile.Set("PartOf", localDNSUnit),
				unitfile.Section("Socket"),
				unitfile.Set("ListenStream", ""),
				unitfile.Set("ListenStream", unitfile.Quote(concern.NodeIPv4(in)+":"+strconv.Itoa(in.Family.LocalDNS.ExporterPort))),
				unitfile.Comment("At boot the socket may come before the address."),
				unitfile.Set("FreeBind", "yes"),
			),
		})
	}
	if len(hostNames(dns)) > 0 {
		out.Directory("/etc/localdns", 0o755, "the supervisor of the DNS cache keeps the addresses of names there")
	}
}

// localDNSLines are the supervisor's unit.
func localDNSLines(in *concern.Input, dns *nodeconfig.LocalDNS) []unitfile.Line {
	command := []unitfile.Text{unitfile.Quote(in.Family.Agent.Program), "local-dns", "--coredns=" + unitfile.Quote(in.CoreDNS), "--corefile=" + unitfile.Quote(in.Family.LocalDNS.Corefile)}
	if names := hostNames(dns); len(names) > 0 {
		refresh := hostsRefresh
		if seconds := dns.Hosts.RefreshSeconds; seconds != nil {
			refresh = cmp.Or(time.Duration(*seconds)*time.Second, hostsRefresh)
		}
		command = append(command, "--refresh="+unitfile.Quote(refresh.String()))
		for _, name := range names {
			command = append(command, "--name="+unitfile.Quote(name))
		}
	}
	unit := []unitfile.Line{unitfile.Section("Unit"), unitfile.Set("Description", "The node's DNS cache")}
	if concern.ExportsDNS(in) {
		unit = append(unit, unitfile.Set("Wants", facts.DNSExporterUnit))
	}
	return append(unit,
		unitfile.Set("ConditionPathExists", unitfile.Quote(in.CoreDNS)),
		unitfile.Comment("containerd and the kubelet ask it from the beginning. Like them, it does not wait for the rest of the boot."),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("After", "local-fs.target systemd-tmpfiles-setup.service systemd-networkd.service systemd-resolved.service"),
		unitfile.Set("Conflicts", "shutdown.target"),
		unitfile.Set("Before", "shutdown.target"),
		unitfile.Set("Before", concern.ContainerdUnit+" "+concern.KubeletUnit),
		unitfile.Comment("Pods may have no other DNS server, so it comes back for ever."),
		unitfile.Set("StartLimitIntervalSec", "0"),
		unitfile.Section("Service"),
		unitfile.Set("Type", "notify"),
		unitfile.Command("ExecStart", command...),
		unitfile.Comment("Whatever has ended the supervisor, the resolver does not go on asking a cache that is gone."),
		unitfile.Set("ExecStopPost", unitfile.Quote(in.Family.Agent.Program+" local-dns --stop")),
		unitfile.Comment("It waits for a DNS server for a minute, and for the cache for another."),
		unitfile.Set("TimeoutStartSec", "150"),
		unitfile.Set("TimeoutStopSec", "45"),
		unitfile.Set("WatchdogSec", "60"),
		unitfile.Set("Restart", "always"),
		unitfile.Set("RestartSec", "10"),
		unitfile.Set("RestartPreventExitStatus", unitfile.Number(exitcode.Usage)),
		unitfile.Comment("The supervisor ends the cache, after the resolver asks it no more."),
		unitfile.Set("KillMode", "mixed"),
		unitfile.Set("Slice", localDNSSlice),
		unitfile.Set("RuntimeDirectory", "localdns"),
		unitfile.Set("RuntimeDirectoryMode", "0700"),
		unitfile.Set("RuntimeDirectoryPreserve", "yes"),
		unitfile.Line{},
		unitfile.Comment("Interfaces, packet filter rules with their modules, port 53, and networks' drop-ins, whose directory may be another's."),
		unitfile.Set("CapabilityBoundingSet", "CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_NET_RAW CAP_SYS_MODULE"),
		unitfile.Set("NoNewPrivileges", "yes"),
		unitfile.Set("ProtectSystem", "strict"),
		unitfile.Set("ReadWritePaths", "/run -/etc/localdns"),
		unitfile.Set("ProtectHome", "yes"),
		unitfile.Set("PrivateTmp", "yes"),
		unitfile.Set("PrivateDevices", "yes"),
		unitfile.Set("ProtectControlGroups", "yes"),
		unitfile.Set("ProtectKernelLogs", "yes"),
		unitfile.Set("ProtectClock", "yes"),
		unitfile.Set("RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6 AF_NETLINK"),
		unitfile.Set("RestrictNamespaces", "yes"),
		unitfile.Set("RestrictRealtime", "yes"),
		unitfile.Set("RestrictSUIDSGID", "yes"),
		unitfile.Set("LockPersonality", "yes"),
		unitfile.Set("MemoryDenyWriteExecute", "yes"),
		unitfile.Set("SystemCallArchitectures", "native"),
		unitfile.Section("Install"),
		unitfile.Set("WantedBy", "multi-user.target "+localDNSSlice),
	)
}

// asksLocalDNS reports whether the node's DNS cache is the pods' only DNS server.
func asksLocalDNS(c *nodeconfig.NodeConfig) bool {
	return slices.Contains(kubeletsetting.List(c.Kubelet, "cluster-dns", "clusterDNS"), dnscache.PodsListener)
}
