package plan

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
)

// Identity is what a kubelet creates on the machine where it joins, and what belongs to that machine alone: with it, another
// machine would act as the wrong Node.
type Identity struct {
	// Files are those that are the machine's.
	Files []string
	// Directories are those of which every file is.
	Directories []string
}

// KubeletIdentity is a kubelet's identity in every family: the family of an earlier machine is not known.
// The certificates are those of the directory that --cert-dir names. The states of the resource managers describe
// the machine's own processors and memory, and a kubelet that finds another machine's does not start (Kubernetes:
// pkg/kubelet/cm/cpumanager/state, memorymanager/state, devicemanager/checkpoint). The states of pods' resources describe its own
// pods (pkg/kubelet/cm/dra, pkg/kubelet/allocation).
func KubeletIdentity() Identity {
	files := []string{
		"/var/lib/kubelet/actuated_pods_state",
		"/var/lib/kubelet/allocated_pods_state",
		"/var/lib/kubelet/cpu_manager_state",
		"/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
		"/var/lib/kubelet/dra_manager_state",
		"/var/lib/kubelet/memory_manager_state",
	}
	for _, family := range profile.All() {
		files = append(files, family.Paths.Kubeconfig)
	}
	slices.Sort(files)
	return Identity{Files: slices.Compact(files), Directories: []string{concern.KubeletCertDir}}
}

// ServingCertificate is the certificate that a kubelet has signed for itself, for its host's name, with its key; without
// them it makes others (Kubernetes: cmd/kubelet/app/server.go, InitializeTLS).
func ServingCertificate() []string { return concern.ServingPair(concern.KubeletCertDir) }
