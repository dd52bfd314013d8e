package doctor_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
)

// filesOnly is a machine that has only files.
type filesOnly struct {
	tree
	doctor.Surroundings
	doctor.Insides
}

// Nodes of each family, as their own tools leave them.
var layouts = []struct {
	name  string
	files tree
	want  string
}{
	{
		"kubeadm, before it runs", tree{
			"/usr/lib/systemd/system/kubelet.service": "[Service]\nExecStart=/usr/bin/kubelet\n",
			"/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf": `[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`,
			"/var/lib/kubelet/kubeadm-flags.env": `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///var/run/containerd/containerd.sock --hostname-override=Node1"`,
			"/var/lib/kubelet/config.yaml":       "authentication:\n  x509:\n    clientCAFile: /etc/kubernetes/pki/ca.crt\n",
			"/etc/hostname":                      "other\n",
		},
		`origin /usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf
kubeconfig /etc/kubernetes/kubelet.conf (/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf, --kubeconfig)
bootstrap /etc/kubernetes/bootstrap-kubelet.conf (/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf, --bootstrap-kubeconfig)
config /var/lib/kubelet/config.yaml (/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf, --config)
certificates /var/lib/kubelet/pki (the kubelet's default)
runtime unix:///var/run/containerd/containerd.sock (/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf, --container-runtime-endpoint)
node node1 (/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf, --hostname-override)
authority /etc/kubernetes/pki/ca.crt (/var/lib/kubelet/config.yaml)
`,
	},
	{
		"EKS, running", tree{
			"/proc/7/comm":    "kubelet\n", // in a container
			"/proc/7/cmdline": "kubelet\x00--kubeconfig=/container",
			"/proc/7/cgroup":  "0::/kubepods.slice/x\n",
			"/proc/812/comm":  "kubelet\n",
			"/proc/812/cmdline": "/usr/bin/kubelet\x00--kubeconfig\x00/var/lib/kubelet/kubeconfig\x00--config=/etc/kubernetes/kubelet/config.json\x00" +
				"--config-dir=/etc/kubernetes/kubelet/config.json.d\x00--hostname_override=ip-10-0-0-1.ec2.internal\x00-v=2\x00",
			"/proc/812/cgroup":                                      "0::/runtime.slice/kubelet.service\n",
			"/proc/812/environ":                                     "HTTPS_PROXY=http://u:p@proxy:3128\x00",
			"/etc/kubernetes/kubelet/config.json":                   `{"containerRuntimeEndpoint":"unix:///run/containerd/containerd.sock","maxPods":10}`,
			"/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf": `{"maxPods":20,"authentication":{"x509":{"clientCAFile":"/etc/kubernetes/pki/ca.crt"}}}`,
			"/etc/kubernetes/kubelet/config.json.d/README":          "none",
			"/proc/sys/kernel/hostname":                             "x\n",
		},
		`origin process 812
kubeconfig /var/lib/kubelet/kubeconfig (process 812, --kubeconfig)
bootstrap  ()
config /etc/kubernetes/kubelet/config.json (process 812, --config)
certificates /var/lib/kubelet/pki (the kubelet's default)
runtime unix:///run/containerd/containerd.sock (/etc/kubernetes/kubelet/config.json)
node ip-10-0-0-1.ec2.internal (process 812, --hostname-override)
authority /etc/kubernetes/pki/ca.crt (/etc/kubernetes/kubelet/config.json)
`,
	},
	{
		"AKS, with a unit that starts a script", tree{
			"/etc/systemd/system/kubelet.service":   "[Service]\nEnvironmentFile=/etc/default/kubelet\nExecStart=/opt/azure/kubelet.sh\n",
			"/etc/default/kubelet":                  "KUBELET_FLAGS=--v=2\n",
			"/var/lib/kubelet/bootstrap-kubeconfig": "x",
			"/proc/sys/kernel/hostname":             "AKS-Nodepool1-000000\n",
		},
		`origin /etc/systemd/system/kubelet.service
kubeconfig /var/lib/kubelet/kubeconfig (the paths of the family aks)
bootstrap /var/lib/kubelet/bootstrap-kubeconfig (the paths of the family aks)
config  ()
certificates /var/lib/kubelet/pki (the kubelet's default)
runtime unix:///run/containerd/containerd.sock (the kubelet's default)
node aks-nodepool1-000000 (/proc/sys/kernel/hostname)
authority  ()
`,
	},
	{
		"no kubelet", tree{},
		`origin 
kubeconfig  ()
bootstrap  ()
config  ()
certificates /var/lib/kubelet/pki (the kubelet's default)
runtime unix:///run/containerd/containerd.sock (the kubelet's default)
node  ()
authority  ()
`,
	},
}

func TestKubeletOfEachFamilyIsFound(t *testing.T) {
	for _, tt := range layouts {
		t.Run(tt.name, func(t *testing.T) {
			p := &doctor.Patient{Machine: filesOnly{tree: tt.files}}
			k := p.Kubelet()
			got := "origin " + k.Origin + "\n"
			for _, row := range []struct {
				name  string
				found kubeletsetup.Found
			}{
				{"kubeconfig", k.Kubeconfig}, {"bootstrap", k.Bootstrap}, {"config", k.Config}, {"certificates", k.Certificates},
				{"runtime", k.Runtime}, {"node", k.Node}, {"authority", k.Authority},
			} {
				got += fmt.Sprintf("%s %s (%s)\n", row.name, row.found.Value, row.found.From)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKubeletSettingsAreMerged(t *testing.T) {
	p := &doctor.Patient{Machine: filesOnly{tree: layouts[1].files}}
	if got := p.Kubelet().Settings.At("$.maxPods"); got == nil || got.Text != "20" {
		t.Errorf("maxPods is %v, want that of the drop-in", got)
	}
	proxy := p.Kubelet().Variable("HTTPS_PROXY")
	if got := proxy.Reveal(); got != "http://u:p@proxy:3128" {
		t.Errorf("the proxy is %q", got)
	}
}
