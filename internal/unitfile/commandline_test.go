package unitfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/unitfile"
)

func TestCommandLineExpandsVariables(t *testing.T) {
	unit := unitfile.Source{Path: "/usr/lib/systemd/system/kubelet.service", Content: "[Service]\nExecStart=/usr/bin/kubelet\n"}
	dropIn := unitfile.Source{Path: "/etc/systemd/system/kubelet.service.d/10-kubeadm.conf", Content: `[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/b --kubeconfig=/k"
EnvironmentFile=-/etc/default/kubelet
EnvironmentFile=-/missing
ExecStart=
ExecStart=-/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS \
    --name=${NAME}-${MISSING}x $KUBELET_EXTRA_ARGS $MISSING "a b" ${
`}
	loaded := unitfile.Read("kubelet.service", &unit, []unitfile.Source{dropIn})
	got := loaded.CommandLine(loaded.Assigned(func(path string) (string, bool) {
		return "NAME=n1\nKUBELET_EXTRA_ARGS=\"--v=2 '--labels=a=b c'\"\n", path == "/etc/default/kubelet"
	}))
	want := []string{"/usr/bin/kubelet", "--bootstrap-kubeconfig=/b", "--kubeconfig=/k", "--name=n1-x", "--v=2", "--labels=a=b c", "a b", "${"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzCommandLine(f *testing.F) {
	f.Add("/usr/bin/kubelet $A --x=${B} \"y z\"", "--k=v")
	f.Fuzz(func(t *testing.T, command, value string) {
		loaded := unitfile.Read("x.service", &unitfile.Source{Path: "x", Content: "[Service]\nExecStart=" + command + "\n"}, nil)
		for _, word := range loaded.CommandLine([]unitfile.Assigned{{Name: "A", Text: value}, {Name: "B", Text: value}}) {
			if len(word) > 4*(len(command)+1)*(len(value)+1) {
				t.Errorf("a word of %d bytes from %d and %d", len(word), len(command), len(value))
			}
		}
	})
}
