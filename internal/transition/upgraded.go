package transition

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/kubelet"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Where "kubeadm upgrade node" keeps a copy of the kubelet's configuration that it replaces, in one directory for each
// time (k8s.io/kubernetes, cmd/kubeadm/app/phases/upgrade/postupgrade.go, WriteKubeletConfigFiles; since 1.27).
const (
	backupDir    = "/etc/kubernetes/tmp"
	backupPrefix = "kubeadm-kubelet-config"
)

// maxKubeletConfig bounds a configuration of the kubelet that is read, in bytes.
const maxKubeletConfig = 1 << 20

// kubeletConfig is the resource whose file kubeadm writes.
var kubeletConfig = resource.IDOf(&resource.File{Path: kubelet.KubeadmKubeletConfig})

// maxBackups bounds how many copies are looked at; the newest are.
const maxBackups = 16

// Upgraded returns the kubelet's configuration that a kubeadm upgrade of the node has written over the plan's; nil if it has written none.
// It is the cluster's decision, and the new base of the node's configuration.
func Upgraded(host Host, p resource.Plan) []byte {
	planned, ok := p.ByID()[kubeletConfig].Spec.(*resource.File)
	if !ok {
		return nil
	}
	have, err := host.ReadFile(planned.Path, maxKubeletConfig)
	if err != nil || len(have) == 0 || bytes.Equal(have, planned.Content) {
		return nil
	}
	names, err := host.ReadDir(backupDir)
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, backupPrefix) })
	slices.Sort(names)
	for _, name := range names[max(0, len(names)-maxBackups):] {
		copied, err := host.ReadFile(path.Join(backupDir, name, path.Base(planned.Path)), maxKubeletConfig)
		if err == nil && bytes.Equal(copied, planned.Content) {
			return have
		}
	}
	return nil
}

// withoutUpgraded is a plan without the kubelet's configuration, if kubeadm has written another one.
func withoutUpgraded(host Host, p resource.Plan) resource.Plan {
	if Upgraded(host, p) == nil {
		return p
	}
	p.Resources = slices.DeleteFunc(slices.Clone(p.Resources), func(res resource.Resource) bool { return res.ID() == kubeletConfig })
	return p
}
