package integrity_test

import (
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/integrity"
)

func TestUnitFilesAreInOrder(t *testing.T) {
	dirs := map[string][]string{
		"/etc/systemd/system":                          {"kubelet.service.d", "multi-user.target.wants"},
		"/usr/lib/systemd/system":                      {"kubelet.service"},
		"/lib/systemd/system":                          {"kubelet.service"},
		"/etc/systemd/system/kubelet.service.d":        {"20-own.conf", "notes.txt"},
		"/usr/lib/systemd/system/kubelet.service.d":    {"10-kubeadm.conf", "20-own.conf"},
		"/usr/lib/systemd/system/service.d":            {"10-timeout-abort.conf"},
		"/usr/lib/systemd/system/containerd.service.d": {"05-other.conf"},
	}
	defines, dropIns := integrity.UnitFiles("kubelet.service", func(dir string) ([]string, error) {
		if names, has := dirs[dir]; has {
			return names, nil
		}
		return nil, fs.ErrNotExist
	})
	want := []string{
		"/usr/lib/systemd/system/kubelet.service",
		"/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf",
		"/usr/lib/systemd/system/service.d/10-timeout-abort.conf",
		"/etc/systemd/system/kubelet.service.d/20-own.conf",
	}
	if diff := cmp.Diff(want, append([]string{defines}, dropIns...)); diff != "" {
		t.Error(diff)
	}
}
