package kubelet

import (
	"path"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/packed"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
)

// kubeletBinary installs the wanted version: one of those in the image, one that the image has in a package, or a
// download.
var kubeletBinary = concern.Concern{
	Name:  "kubelet binary",
	Reads: []string{setting.Artifact(concern.KubernetesName), setting.ComponentsRegistry},
	Plan:  planKubeletBinary,
}

func planKubeletBinary(in *concern.Input, out *concern.Output) {
	s := kubeletSource(in)
	kubelet := in.Family.Paths.Kubelet
	switch {
	case s.installed == kubelet:
	case s.installed != "":
		out.Append(resource.Resource{
			Phase:   resource.Base,
			Effects: resource.Restarting(concern.KubeletUnit),
			Reason:  "the kubelet of the wanted version, one of those in the image",
			Spec:    &resource.Symlink{Path: kubelet, Target: s.installed},
		})
	case len(s.packages) > 0:
		planPackagedBinaries(in, out, &s)
	case s.registry:
		planRegistryBinaries(in, out, &s)
	case len(s.archive) > 0:
		planArchivedBinaries(in, out, s.archive)
	}
}

// planArchivedBinaries brings both programs in one archive.
func planArchivedBinaries(in *concern.Input, out *concern.Output, from []string) {
	artifact := in.Config.Components.Artifacts[concern.KubernetesName]
	unpack := exitcode.KubernetesInstallFailed
	if artifact.File != "" && artifact.URL == "" {
		unpack = exitcode.PrivatePackageFailed // the image's private package is all there is
	}
	d := out.Download(exitcode.KubernetesDownloadFailed, "Kubernetes' programs for a node, which the image does not have in the wanted version", &resource.Download{
		Component: concern.KubernetesName, Version: in.Config.Cluster.KubernetesVersion, From: from,
		SHA256: artifact.SHA256,
		Files: []resource.Unpacked{
			{Name: "kubelet", Members: packed.Kubernetes("kubelet")},
			{Name: "kubectl", Members: packed.Kubernetes("kubectl"), Optional: true},
		},
		ExitCodes: map[resource.Cause]int{resource.CauseUnpack: unpack},
	})
	kubernetesProgram(out, in, d, "kubelet")
	kubernetesProgram(out, in, d, "kubectl")
}

// planPackagedBinaries unpacks the image's packages. It may have none of kubectl, which no node needs.
func planPackagedBinaries(in *concern.Input, out *concern.Output, s *kubeletOrigin) {
	version := in.Config.Cluster.KubernetesVersion
	for _, p := range []struct {
		name string
		from []string
		code int
	}{
		{"kubelet", append(s.packages, s.archive...), exitcode.KubeletInstallFailed},
		{"kubectl", packagesFor(in, "kubectl", version), exitcode.KubectlInstallFailed},
	} {
		if len(p.from) > 0 {
			d := out.Download(p.code, "the image has it as a package that is not unpacked", &resource.Download{
				Component: p.name, Version: version, From: p.from,
				Files: []resource.Unpacked{{Name: p.name, Members: packed.Kubernetes(p.name)}},
			})
			kubernetesProgram(out, in, d, p.name)
		}
	}
}

// planRegistryBinaries brings the programs from the registry of an isolated cluster: each as the package of the machine's system,
// or both as Kubernetes' archive.
func planRegistryBinaries(in *concern.Input, out *concern.Output, s *kubeletOrigin) {
	version, registry := in.Config.Cluster.KubernetesVersion, in.Config.Components.Registry
	for _, name := range []string{"kubelet", "kubectl"} {
		d := out.Download(exitcode.RegistryKubernetesFailed, "the registry of a cluster without a way out has it", &resource.Download{
			Component: name, Version: version, OSVersion: osVersion(in), ExitCodes: concern.RegistryCodes,
			From: append([]string{
				registry + "/" + in.Family.Components.RegistryPackages + "/" + name + ":v" + version,
				registry + "/" + in.Family.Components.RegistryArchives + ":v" + version + "-linux-" + in.Facts.Architecture,
			}, s.archive...),
			Files: []resource.Unpacked{{Name: name, Members: packed.Kubernetes(name)}},
		})
		kubernetesProgram(out, in, d, name)
	}
}

// kubernetesProgram installs a program. A kubectl is for people: one that others have installed stays.
func kubernetesProgram(o *concern.Output, in *concern.Input, d *resource.Download, name string) {
	at := path.Join(path.Dir(in.Family.Paths.Kubelet), name)
	if name == "kubelet" {
		o.Program(d, name, at, "the kubelet of the wanted version, which was brought", concern.KubeletUnit)
		return
	}
	o.Append(resource.Resource{
		Phase: resource.Base, Reason: "for who looks at the node: nothing on it needs one",
		Spec: &resource.Copy{Path: at, Source: d.Path(name), Optional: true},
	})
}
