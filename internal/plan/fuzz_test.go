package plan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// FuzzNew: whatever document makes a config without a fatal problem, and whatever the facts, the plan
// keeps the rules that all plans keep.
func FuzzNew(f *testing.F) {
	found, err := filepath.Glob(examples + "*/*.*")
	if err != nil || len(found) == 0 {
		f.Fatal("no seeds", err)
	}
	ubuntu := read(f, examples+"facts/ubuntu.json")
	for _, path := range found {
		document, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(document, ubuntu)
	}
	minimal := string(read(f, examples+"native/minimal.yaml"))
	for _, more := range []string{
		"system: {sysctls: {net.ipv4.conf.*.rp_filter: '2', net.ipv6.conf.eth0/1.forwarding: '1'}, modules: [overlay, overlay]}\n",
		"kubelet: {config: {tlsCertFile: [x], serverTLSBootstrap: true, nested: {a: [1, 2.5, null]}}, labels: {a: ''}}\n",
		"kubelet: {imageCredentialProvider: {binDir: /opt, configFile: /etc/default/kubelet, config: {providers: [1e99]}}}\n",
		"kubelet: {imageCredentialProvider: {binDir: /opt}}\n",
		"kubelet: {flags: [{name: x, value: \"a\\tb \\\" ' \\\\ $x %n # ; \u2028\"}, {name: x}], nodeIPs: ['::1']}\n",
		"runtime: {containerd: {registryHeaders: {'\"]\\': \"a\\tb\\\"\"}, limits: {NOFILE: '1:infinity'}, metricsAddress: '[::1]:1'}}\n",
		"components: {layout: aks, preinstalled: true, features: {A: '$(x)'}}\ncloud: {provider: azure}\n",
		"cloud: {azure: {custom: {endpoints: \"{\\n}\"}, identity: {clientSecret: \"a\\\"b\"}}}\n",
		"network: {plugin: kubenet, ipFamilies: [IPv6]}\n",
		"files: [{path: /etc/a, content: x, restarts: [a.service, kubelet.service]}, {path: /opt/a, base64: AAE=, mode: '755', reloads: [b.service]}, {path: /etc/b, secret: y}]\n",
		"units: [{name: a.service, content: \"[Service]\\nExecStart=/bin/sh -c 'x'\\n[Install]\\nWantedBy=\\\\\\n a.target b.target\", enabled: true}, {name: b@.service, content: '[Unit]'}]\n",
		"units: [{name: kubelet.service, dropIns: [{name: 50-x.conf, content: '[Service]'}]}, {name: c.socket, state: Masked}, {name: d.timer, state: Stopped}, {name: e.service, enabled: true}]\n",
	} {
		f.Add([]byte(minimal+more), ubuntu)
		f.Add([]byte(minimal+more), []byte(`{"components":[{"name":"kubelet","version":"1.36.3","path":"relative/../kubelet"}],"nodeIPs":["x y"]}`))
	}
	f.Add([]byte("apiVersion: slipway.dev/v1\nkind: NodeConfig\njoin: {method: None}\n"), []byte(`{"components":[{"name":"kubelet","path":"/opt/bin/kubelet-"}]}`))
	f.Fuzz(func(t *testing.T, document, known []byte) {
		decoded := dialect.Decode(document, "")
		if len(nodeconfig.Fatal(decoded.Problems)) > 0 {
			return
		}
		machine, _ := facts.Parse(known)
		for _, v := range violations(decoded.Config, machine) {
			t.Error(v)
		}
	})
}
