package parts

// The versions of the machines' parts. test/e2e/modules/*/go.mod pins those that are built from Go
// modules; these versions are checked against them.
const (
	// Suite is the Debian release of the nodes.
	Suite = "bookworm"
	// PlainSuite is that of a plain image, if a case names no other.
	PlainSuite = "trixie"
	// Kubernetes is the version of the control plane, of kubectl and of the kubelet.
	Kubernetes = "1.36.3"
	// Etcd is the version of etcd.
	Etcd = "3.6.16"
	// Containerd is the version of the built containerd.
	Containerd = "2.2.9"
	// CNI is the version of the CNI plug-ins.
	CNI = "1.9.1"
	// CoreDNS is the version of CoreDNS.
	CoreDNS = "1.15.0"
	// Authenticator is the version of aws-iam-authenticator.
	Authenticator = "0.7.8"
	// CloudProviderAWS is the version of the project that has ecr-credential-provider.
	CloudProviderAWS = "1.36.2"
	// Ignition is the version of Ignition.
	Ignition = "2.22.0"
	// Pause is the name of the sandbox image, which is also the image that answers HTTP.
	Pause = "slipway.test/payload:1"
	// AKSPause is the sandbox image's name in a launch template for AKS, as in AKS's images.
	AKSPause = "mcr.microsoft.com/oss/kubernetes/pause:3.6"
	// EKSPause is its name in EKS's images.
	EKSPause = "localhost/kubernetes/pause:latest"
)

// Skew is a kubelet of another version and the control plane that it joins.
type Skew struct{ Kubelet, ControlPlane string }

// Skews are the newest version of the kubelet of each minor version that can be built, and the newest control plane that may have it: a kubelet is at most
// three minor versions older, and never newer (kubernetes.io/releases/version-skew-policy).
var Skews = []Skew{
	{"1.33.13", Kubernetes},
	{"1.34.4", "1.37.2"},
	{"1.35.4", "1.37.2"},
	{Kubernetes, "1.37.2"},
	{"1.37.2", "1.37.2"},
}

// kubernetesModules are the modules below test/e2e/modules, by version. Those with a control plane have all of its programs.
var kubernetesModules = map[string]string{
	Kubernetes: "kubernetes", "1.37.2": "kubernetes1.37", "1.35.4": "kubelet1.35", "1.34.4": "kubelet1.34", "1.33.13": "kubelet1.33",
}

// tools are the packages that the test needs on its own machine, by a program of each.
var tools = map[string]string{
	"genisoimage": "genisoimage",
	"mmdebstrap":  "mmdebstrap",
	"sfdisk":      "fdisk",
	"dnsmasq":     "dnsmasq-base",
	"cpio":        "cpio",
	"ip":          "iproute2",
	"mkfs.ext4":   "e2fsprogs",
	"gcc":         "build-essential",
}

// qemu are the packages of QEMU, with the firmware that it needs.
var qemu = []string{"qemu-system-x86", "qemu-utils", "seabios", "ipxe-qemu"}

// oldestQEMU is the first version that does not run code which another processor has replaced while it was translated ("accel/tcg: Always lock
// pages before translation"). With Debian 12's, of some hundred machines one stayed for ever at a jump label of Linux that was just switched:
// the translated breakpoint comes again and again, and Linux, which finds none in memory, tries once more (arch/x86/kernel/kprobes/core.c,
// kprobe_int3_handler).
var oldestQEMU = []int{8, 1}
