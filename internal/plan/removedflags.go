package plan

// removedFlag is a command-line flag the kubelet once had and no longer has.
type removedFlag struct {
	Flag   string // the flag's name as the kubelet spells it, without the leading dashes
	Since  int    // Kubernetes 1.x minor from which the kubelet no longer has the flag
	Source string // where its absence was read
}

// removedKubeletFlags lists the kubelet's command-line flags that newer
// kubelets refuse: a kubelet given a flag it does not know exits before it
// does anything else. It covers the flags of the Linux kubelet of Kubernetes
// 1.22 and later that were gone by 1.36, oldest removal first.
//
// Names are in the kubelet's normal form. It also accepts underscores in place
// of hyphens (--log_dir is --log-dir), so a name has to be normalised before
// it is looked up here. A flag that is only deprecated, or that newer kubelets
// accept and ignore, is not in the list.
var removedKubeletFlags = []removedFlag{
	{Flag: "experimental-bootstrap-kubeconfig", Since: 23, Source: "k8s.io/kubernetes v1.23.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "seccomp-profile-root", Since: 23, Source: "k8s.io/kubernetes v1.23.0 cmd/kubelet/app/options: flag absent"},

	{Flag: "cni-bin-dir", Since: 24, Source: "k8s.io/kubernetes v1.24.0 pkg/kubelet/config: flag absent"},
	{Flag: "cni-cache-dir", Since: 24, Source: "k8s.io/kubernetes v1.24.0 pkg/kubelet/config: flag absent"},
	{Flag: "cni-conf-dir", Since: 24, Source: "k8s.io/kubernetes v1.24.0 pkg/kubelet/config: flag absent"},
	{Flag: "docker", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "docker-endpoint", Since: 24, Source: "k8s.io/kubernetes v1.24.0 pkg/kubelet/config: flag absent"},
	{Flag: "docker-env-metadata-whitelist", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "docker-only", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "docker-root", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "docker-tls", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "docker-tls-ca", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "docker-tls-cert", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "docker-tls-key", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "dynamic-config-dir", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "experimental-check-node-capabilities-before-mount", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "experimental-dockershim-root-directory", Since: 24, Source: "k8s.io/kubernetes v1.24.0 pkg/kubelet/config: flag absent"},
	{Flag: "experimental-logging-sanitization", Since: 24, Source: "k8s.io/component-base v0.24.0 logs: flag absent"},
	{Flag: "image-pull-progress-deadline", Since: 24, Source: "k8s.io/kubernetes v1.24.0 pkg/kubelet/config: flag absent"},
	{Flag: "network-plugin", Since: 24, Source: "k8s.io/kubernetes v1.24.0 pkg/kubelet/config: flag absent"},
	{Flag: "network-plugin-mtu", Since: 24, Source: "k8s.io/kubernetes v1.24.0 pkg/kubelet/config: flag absent"},
	{Flag: "non-masquerade-cidr", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "really-crash-for-testing", Since: 24, Source: "k8s.io/kubernetes v1.24.0 cmd/kubelet/app/options: flag absent"},

	{Flag: "experimental-kernel-memcg-notification", Since: 25, Source: "k8s.io/kubernetes v1.25.0 cmd/kubelet/app/options: flag absent"},

	{Flag: "add-dir-header", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},
	{Flag: "alsologtostderr", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},
	{Flag: "log-backtrace-at", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},
	{Flag: "log-dir", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},
	{Flag: "log-file", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},
	{Flag: "log-file-max-size", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},
	{Flag: "logtostderr", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},
	{Flag: "one-output", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},
	{Flag: "skip-headers", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},
	{Flag: "skip-log-headers", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},
	{Flag: "stderrthreshold", Since: 26, Source: "k8s.io/component-base v0.26.0 logs/klogflags: only v and vmodule kept"},

	{Flag: "container-runtime", Since: 27, Source: "k8s.io/kubernetes v1.27.0 pkg/kubelet/config: flag absent"},
	{Flag: "master-service-namespace", Since: 27, Source: "k8s.io/kubernetes v1.27.0 cmd/kubelet/app/options: flag absent"},

	{Flag: "azure-container-registry-config", Since: 30, Source: "k8s.io/kubernetes v1.30.0 cmd/kubelet/app/options: flag absent"},

	{Flag: "iptables-drop-bit", Since: 31, Source: "k8s.io/kubernetes v1.31.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "iptables-masquerade-bit", Since: 31, Source: "k8s.io/kubernetes v1.31.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "keep-terminated-pod-volumes", Since: 31, Source: "k8s.io/kubernetes v1.31.0 cmd/kubelet/app/options: flag absent"},

	{Flag: "cloud-config", Since: 34, Source: "k8s.io/kubernetes v1.34.0 cmd/kubelet/app/options: flag absent"},
	{Flag: "register-schedulable", Since: 34, Source: "k8s.io/kubernetes v1.34.0 cmd/kubelet/app/options: flag absent"},

	{Flag: "pod-infra-container-image", Since: 35, Source: "k8s.io/kubernetes v1.35.0 cmd/kubelet/app/options: flag absent"},
}
