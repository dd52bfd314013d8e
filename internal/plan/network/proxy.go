package network

import (
	"net/url"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// proxy gives the contract's HTTP proxy to the container runtime, the kubelet, all other services, apt and login sessions.
var proxy = concern.Concern{
	Name:  "proxy",
	Reads: []string{"$.cluster.server", "$.proxy.http", "$.proxy.https", "$.proxy.noProxy", setting.LazyPull},
	Plan:  planProxy,
}

// systemEnvironment is read by pam_env(8) at each login, so every user can read it.
const systemEnvironment = "/etc/environment"

// longestLine is the longest line of it that is written, in bytes. Of one with 8192, and of all lines after it, pam_env
// reads nothing (Linux-PAM: pam_env.c, BUF_SIZE).
const longestLine = 8000

func planProxy(in *concern.Input, out *concern.Output) {
	p := in.Config.Proxy
	if !in.Proxied() {
		return
	}
	variables := proxyVariables(in)
	secret := holdsCredential(p.HTTP) || holdsCredential(p.HTTPS)
	units := []string{concern.ContainerdUnit, concern.KubeletUnit}
	if in.UsesSOCI() {
		units = append(units, facts.SOCIUnit)
	}
	out.Guarded(secret, resource.Base, concern.ProxyEnv, 0o644, textfile.Shell(variables...),
		"the contract's proxy, and what the node reaches without it: itself, its API server, its cloud's metadata service", units...)
	for _, unit := range units {
		runs := unit
		if unit == concern.KubeletUnit {
			runs = kubeletProcess(in)
		}
		out.File(resource.Base, resource.UnitDir+"/"+runs+".d/10-proxy.conf", 0o644, unitfile.File(unitfile.Section("Service"), unitfile.Set("EnvironmentFile", concern.ProxyEnv)),
			"it pulls images, or runs what does, through the contract's proxy", unit)
	}
	if in.Distro.Packages.Apt {
		out.Guarded(secret, resource.Base, "/etc/apt/apt.conf.d/90-slipway-proxy", 0o644, aptProxy(p), "apt fetches packages through the contract's proxy (apt.conf(5))")
	}
	if secret {
		for _, s := range []struct {
			path  string
			value nodeconfig.Secret
		}{{"$.proxy.http", p.HTTP}, {"$.proxy.https", p.HTTPS}} {
			if holdsCredential(s.value) {
				out.Warn(nodeconfig.NotApplied, s.path, "has a user or a password: containerd, the kubelet and apt get the proxy, and other services and users do not, because everybody could read it there")
			}
		}
		return
	}
	out.Append(concern.ManagerDefaults("10-slipway-proxy.conf", variables, false, resource.Effects{
		Class: resource.Reload, Why: "a service has it when it starts again", Source: "systemd-system.conf(5), DefaultEnvironment=",
	}, "the contract's proxy, for all services"))
	var lines strings.Builder
	for _, v := range variables {
		if strings.IndexFunc(v[1], func(r rune) bool { return !textfile.PlainEnvironment(r) }) >= 0 {
			// pam_env(8) and the shells that read this file do not agree on quotes, and no quotes are needed in what names hosts.
			out.Warn(nodeconfig.NotApplied, "$.proxy", "is not in %s, because a value has a character that not all who read this file take literally", systemEnvironment)
			return
		}
		line := v[0] + "=" + v[1] + "\n"
		if len(line) > longestLine {
			out.Warn(nodeconfig.NotApplied, "$.proxy.noProxy", "is too long: the proxy is not in %s, because %s would be a line of %d bytes, and pam_env reads none of more than %d: who logs in has no proxy; name domains or networks in place of single hosts",
				systemEnvironment, v[0], len(line), longestLine)
			return
		}
		lines.WriteString(line)
	}
	out.Append(resource.Resource{
		Phase:  resource.Base,
		Reason: "the contract's proxy, for everybody who logs in (pam_env(8))",
		Spec:   &resource.Block{Path: systemEnvironment, Label: "proxy", Content: lines.String()},
	})
}

// proxyVariables are the variables, in both spellings: curl reads http_proxy only in small letters, others in capitals.
func proxyVariables(in *concern.Input) [][2]string {
	var variables [][2]string
	for _, v := range [][2]string{
		{"HTTP_PROXY", in.Config.Proxy.HTTP.Reveal()},
		{"HTTPS_PROXY", in.Config.Proxy.HTTPS.Reveal()},
		{"NO_PROXY", strings.Join(concern.NoProxy(in), ",")},
	} {
		if v[1] != "" {
			variables = append(variables, v, [2]string{strings.ToLower(v[0]), v[1]})
		}
	}
	return variables
}

// holdsCredential reports whether a proxy's URL has a user or a password. A text that is not a URL may contain a credential.
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

// kubeletProcess is the unit of the kubelet's process: its snap's unit if it is a snap (snapd: wrappers, services).
func kubeletProcess(in *concern.Input) string {
	if in.Snapped() {
		return "snap." + in.Family.Command.Snap.Name + ".daemon.service"
	}
	return concern.KubeletUnit
}
