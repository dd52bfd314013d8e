package facts

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
)

func TestCNI(t *testing.T) {
	const conflist = `{"name":"azure"}`
	many := map[string]string{"/opt/cni/bin/10-azure.conflist": strings.Repeat(" ", maxConflist) + conflist}
	for i := range 100 {
		many[fmt.Sprintf("/opt/cni/bin/%03d", i)] = "program"
		many[fmt.Sprintf("/opt/cni/downloads/%03d/program", i)] = "program"
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  *CNI
	}{
		{"an image of AKS", map[string]string{
			"/opt/cni/bin/loopback": "program",
			"/opt/cni/downloads/azure-vnet-cni-linux-amd64-v1.6.30/azure-vnet":        "program",
			"/opt/cni/downloads/azure-vnet-cni-linux-amd64-v1.6.30/10-azure.conflist": conflist,
			"/opt/cni/downloads/azure-vnet-cni-linux-amd64-v1.5.50.tgz":               "archive",
		}, &CNI{Plugins: []string{"loopback"}, Packages: []CNIPackage{{"azure-vnet-cni-linux-amd64-v1.6.30", []string{"10-azure.conflist", "azure-vnet"}, conflist}}}},
		{"unpacked already", map[string]string{"/opt/cni/bin/azure-vnet": "program", "/opt/cni/bin/10-azure.conflist": conflist},
			&CNI{Plugins: []string{"10-azure.conflist", "azure-vnet"}, Conflist: conflist}},
		{"no JSON", map[string]string{"/opt/cni/bin/10-azure.conflist": "{"}, &CNI{Plugins: []string{"10-azure.conflist"}}},
		{"no place", map[string]string{"/etc/os-release": "ID=debian"}, nil},
	} {
		m := machine{files: c.files}
		if got := Gather(m).CNI; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := Gather(machine{files: many}).CNI; len(got.Plugins) != maxCNIFiles || len(got.Packages) != maxCNIPackages || got.Conflist != "" {
		t.Errorf("recorded are %d plug-ins, %d packages, a configuration of %d bytes", len(got.Plugins), len(got.Packages), len(got.Conflist))
	}
	kubelet := machine{binaries: map[string]*debug.BuildInfo{"/usr/bin/kubelet": built("k8s.io/kubernetes/cmd/kubelet", "v1.34.2")}}
	if got := Gather(kubelet).CNI; got == nil || len(got.Plugins)+len(got.Packages) > 0 {
		t.Errorf("a machine with a kubelet and no plug-ins: %+v", got)
	}
}
