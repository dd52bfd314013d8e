package plan

import (
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// proxy gives the contract's HTTP proxy to the container runtime, the kubelet, all other services, apt and who logs in.
var proxy = concern{
	name:  "proxy",
	reads: []string{"$.cluster.server", "$.proxy.http", "$.proxy.https", "$.proxy.noProxy", LazyPullPath},
	plan:  planProxy,
}

// proxyEnv has the variables for containerd and the kubelet. They are in a file that only root reads where they have a
// password, because systemd shows what a unit has in Environment= to everybody (systemd.exec(5), "Environment").
const proxyEnv = "/etc/slipway/proxy.env"

// systemEnvironment is read by pam_env(8), for everybody who logs in: it is for everybody to read.
const systemEnvironment = "/etc/environment"

// longestLine is the longest line of it that is written, in bytes. Of one with 8192, and of all lines after it, pam_env
// reads nothing (Linux-PAM: pam_env.c, BUF_SIZE).
const longestLine = 8000

// reachedDirectly are what no proxy can reach for a node: itself, and its cloud's metadata service (Azure: Instance
// Metadata Service, "Proxies"; Amazon EC2: "the instance metadata service is link-local").
var reachedDirectly = []string{"localhost", "127.0.0.1", "::1", "169.254.169.254"}

// wireServer is Azure's, as reachedDirectly (Azure: What is IP address 168.63.129.16).
const wireServer = "168.63.129.16"

func planProxy(in *input, out *output) {
	p := in.config.Proxy
	if !in.proxied() {
		return
	}
	variables := proxyVariables(in)
	secret := holdsCredential(p.HTTP) || holdsCredential(p.HTTPS)
	units := []string{containerdUnit, kubeletUnit}
	if in.usesSOCI() {
		units = append(units, facts.SOCIUnit)
	}
	out.guarded(secret, resource.Base, proxyEnv, 0o644, shellFile(variables...),
		"the contract's proxy, and what the node reaches without it: itself, its API server, its cloud's metadata service", units...)
	for _, unit := range units {
		runs := unit
		if unit == kubeletUnit {
			runs = in.kubeletProcess()
		}
		out.file(resource.Base, resource.UnitDir+"/"+runs+".d/10-proxy.conf", 0o644, unitfile.File(unitfile.Section("Service"), unitfile.Set("EnvironmentFile", proxyEnv)),
			"it pulls images, or runs what does, through the contract's proxy", unit)
	}
	if in.distro.Packages.Apt {
		out.guarded(secret, resource.Base, "/etc/apt/apt.conf.d/90-slipway-proxy", 0o644, aptProxy(p), "apt fetches packages through the contract's proxy (apt.conf(5))")
	}
	if secret {
		for _, s := range []struct {
			path  string
			value nodeconfig.Secret
		}{{"$.proxy.http", p.HTTP}, {"$.proxy.https", p.HTTPS}} {
			if holdsCredential(s.value) {
				out.warn(nodeconfig.NotApplied, s.path, "has a user or a password: containerd, the kubelet and apt get the proxy, and other services and users do not, because everybody could read it there")
			}
		}
		return
	}
	out.add(managerDefaults("10-slipway-proxy.conf", variables, false, resource.Effects{
		Class: resource.Reload, Why: "a service has it when it starts again", Source: "systemd-system.conf(5), DefaultEnvironment=",
	}, "the contract's proxy, for all services"))
	var lines strings.Builder
	for _, v := range variables {
		if strings.IndexFunc(v[1], func(r rune) bool { return !plainEnvironment(r) }) >= 0 {
			// pam_env(8) and the shells that read this file do not agree on quotes, and no quotes are needed in what names hosts.
			out.warn(nodeconfig.NotApplied, "$.proxy", "is not in %s, because a value has a character that not all who read this file take literally", systemEnvironment)
			return
		}
		line := v[0] + "=" + v[1] + "\n"
		if len(line) > longestLine {
			out.warn(nodeconfig.NotApplied, "$.proxy.noProxy", "is too long: the proxy is not in %s, because %s would be a line of %d bytes, and pam_env reads none of more than %d: who logs in has no proxy; name domains or networks in place of single hosts",
				systemEnvironment, v[0], len(line), longestLine)
			return
		}
		lines.WriteString(line)
	}
	out.add(resource.Resource{
		Phase:  resource.Base,
		Reason: "the contract's proxy, for everybody who logs in (pam_env(8))",
		Spec:   &resource.Block{Path: systemEnvironment, Label: "proxy", Content: lines.String()},
	})
}

// proxied reports whether the contract has a proxy.
func (in *input) proxied() bool {
	return !in.config.Proxy.HTTP.IsZero() || !in.config.Proxy.HTTPS.IsZero()
}

// proxyVariables are the variables, in both spellings: curl reads http_proxy only in small letters, others in capitals.
func proxyVariables(in *input) [][2]string {
	var variables [][2]string
	for _, v := range [][2]string{
		{"HTTP_PROXY", in.config.Proxy.HTTP.Reveal()},
		{"HTTPS_PROXY", in.config.Proxy.HTTPS.Reveal()},
		{"NO_PROXY", strings.Join(noProxy(in), ",")},
	} {
		if v[1] != "" {
			variables = append(variables, v, [2]string{strings.ToLower(v[0]), v[1]})
		}
	}
	return variables
}

// noProxy are the contract's hosts, and those that a node reaches directly in any case. The API server is one of them,
// because the agent too asks it without a proxy whether the node can join; an image knows none.
func noProxy(in *input) []string {
	hosts := slices.Concat(in.config.Proxy.NoProxy, reachedDirectly)
	if in.config.Cloud.Azure != nil {
		hosts = append(hosts, wireServer)
	}
	if u, err := url.Parse(in.config.Cluster.Server); err == nil && u.Hostname() != "" && in.joins() {
		hosts = append(hosts, u.Hostname())
	}
	var once []string
	for _, host := range hosts {
		if !slices.Contains(once, host) {
			once = append(once, host)
		}
	}
	return once
}

// holdsCredential reports whether a proxy's URL has a user or a password. What is no URL may hold anything.
func holdsCredential(proxy nodeconfig.Secret) bool {
	u, err := url.Parse(proxy.Reveal())
	return err != nil || u.User != nil
}

// aptProxy is apt's configuration. Between its quotes nothing is special but another quote (apt.conf(5)); in a URL that is
// written as %22.
func aptProxy(p nodeconfig.Proxy) []byte {
	var lines strings.Builder
	for _, s := range []struct {
		scheme string
		proxy  nodeconfig.Secret
	}{{"http", p.HTTP}, {"https", p.HTTPS}} {
		if !s.proxy.IsZero() {
			lines.WriteString("Acquire::" + s.scheme + `::Proxy "` + strings.ReplaceAll(s.proxy.Reveal(), `"`, "%22") + "\";\n")
		}
	}
	return []byte(lines.String())
}
