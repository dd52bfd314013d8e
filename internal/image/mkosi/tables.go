package mkosi

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/document"
)

// suite is a release of a distribution.
type suite struct {
	name, distribution string
	// keyring is the file with the archive's keys, in the tree of the tools.
	keyring string
	// archives are the package archives.
	archives []archive
	// kernel is the package of the newest kernel for clouds: it has NVMe, Hyper-V, MANA, virtio and ENA. "{arch}" stands for the
	// architecture.
	kernel string
	// packages are what a node of Kubernetes needs, and its boot loader.
	packages []string
}

// archive is a package archive.
type archive struct {
	// suites are the names of its suites; "{suite}" stands for the release.
	suites string
	// snapshot is its URL at one time, for which "{snapshot}" stands.
	snapshot string
	// beside is the end of its URL on a mirror.
	beside string
}

// debian are Debian's archives, as snapshot.debian.org and its mirrors have them.
var debian = []archive{
	{"{suite} {suite}-updates", "https://snapshot.debian.org/archive/debian/{snapshot}", ""},
	{"{suite}-security", "https://snapshot.debian.org/archive/debian-security/{snapshot}", "-security"},
}

// nodePackages are the packages of a node: what the kubelet, kube-proxy, CNI plug-ins and volumes run, by the preflight checks of
// kubeadm 1.36 and the packages of AKS's and EKS's images.
var nodePackages = []string{
	"busybox-static", "ca-certificates", "conntrack", "dbus", "e2fsprogs", "ethtool", "iproute2", "iptables", "kmod", "mount", "nftables", "procps", "socat",
	"systemd", "systemd-boot", "systemd-boot-efi", "systemd-resolved", "systemd-sysv", "systemd-timesyncd", "udev", "util-linux",
}

// suites are the releases, newest first.
var suites = []suite{
	{
		name: "trixie", distribution: "debian", keyring: "/usr/share/keyrings/debian-archive-keyring.gpg", archives: debian,
		kernel: "linux-image-cloud-{arch}", packages: append([]string{"systemd-repart"}, nodePackages...),
	},
	{
		name: "bookworm", distribution: "debian", keyring: "/usr/share/keyrings/debian-archive-keyring.gpg", archives: debian,
		kernel: "linux-image-cloud-{arch}", packages: nodePackages,
	},
}

func suiteOf(name string) (*suite, error) {
	var names []string
	for i := range suites {
		if suites[i].name == name {
			return &suites[i], nil
		}
		names = append(names, suites[i].name)
	}
	return nil, fmt.Errorf("no image of the suite %q can be built: %s", name, document.WantWord(name, names))
}

// machine is an architecture.
type machine struct {
	// name is mkosi's.
	name string
	// consoles are the kernel's, of which the last one is systemd's: clouds show the serial port. Without them, a kernel of arm64 takes the
	// port that the firmware names (ACPI's table SPCR, or stdout-path), and one of amd64 the screen. The name of arm64's port is not the
	// same everywhere: ttyAMA0 in QEMU and on Azure, ttyS0 on EC2.
	consoles []string
}

var machines = map[string]machine{
	"amd64": {"x86-64", []string{"console=tty0", "console=ttyS0,115200"}},
	"arm64": {"arm64", nil},
}

// initrdModules are the kernel's modules that mount the root file system on the machines of clouds, and their networks' drivers, to which
// udev comes late (docs/boot.md, "The network"). Of these the initrd loads what the machine's devices need. A name that the kernel has
// built in is no error.
var initrdModules = []string{
	"virtio_pci", "virtio_blk", "virtio_scsi", "nvme", "hv_vmbus", "hv_storvsc", "pci_hyperv", "xen_blkfront", "sd_mod", "ext4",
	"virtio_net", "hv_netvsc", "ena", "mana",
}

// partition is a file of repart.d(5).
type partition struct {
	name    string
	section section
}

// partitions are the disk's: the boot loader's, and the root, which is the last one, so that it can grow.
var partitions = []partition{
	{"10-esp.conf", section{"Partition", []setting{
		on("Type", "esp"), on("Format", "vfat"), on("CopyFiles", "/boot:/"), on("CopyFiles", "/efi:/"), on("SizeMinBytes", "256M"), on("SizeMaxBytes", "256M"),
	}}},
	{"20-root.conf", section{"Partition", []setting{
		on("Type", "root"), on("Label", "root"), on("Format", "ext4"), on("CopyFiles", "/"), on("ExcludeFiles", "/boot/"), on("ExcludeFiles", "/efi/"),
		on("SizeMinBytes", "2G"), on("GrowFileSystem", "yes"),
	}}},
}
