package plan

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// partitionUnit makes the partitions at each boot, because no device keeps them over one (NVIDIA: Multi-Instance GPU User Guide).
const (
	partitionUnit     = "slipway-gpu-partitions.service"
	partitionPatience = resource.Duration(5 * time.Minute)
)

// partitionProfiles are what a contract may want: the number of the vendor's profile, and how many of it one device has (AKS:
// mig-partition.sh).
var partitionProfiles = map[string]struct {
	profile string
	count   int
}{
	"MIG1g": {"19", 7},
	"MIG2g": {"14", 3},
	"MIG3g": {"9", 2},
	"MIG4g": {"5", 1},
	"MIG7g": {"0", 1},
}

// maxPartitions is how many partitions a device has at most, and partitionLetters are those of a profile's name, such as 1g.10gb+me.
const (
	maxPartitions    = 7
	partitionLetters = "abcdefghijklmnopqrstuvwxyz0123456789.+"
)

// isPartitioned reports whether the node's devices are partitioned.
func (in *input) isPartitioned() bool {
	return in.gpu().InstanceProfile != "" || len(in.gpu().ProfileLayout) > 0
}

// partitionsOf are the profiles of one device's partitions. A layout says each of them.
func partitionsOf(in *input, out *output) []string {
	gpu := in.gpu()
	p, known := partitionProfiles[gpu.InstanceProfile]
	if gpu.InstanceProfile != "" && !known {
		out.fatal(nodeconfig.Invalid, profilePath, "is no profile of partitions that is known; use one of %s", strings.Join(slices.Sorted(maps.Keys(partitionProfiles)), ", "))
		return nil
	}
	if len(gpu.ProfileLayout) == 0 {
		return slices.Repeat([]string{p.profile}, p.count)
	}
	if len(gpu.ProfileLayout) > maxPartitions {
		out.fatal(nodeconfig.Invalid, layoutPath, "has more than %d partitions, and no device can have as many", maxPartitions)
		return nil
	}
	for i, name := range gpu.ProfileLayout {
		if name == "" || strings.Trim(name, partitionLetters) != "" {
			out.fatal(nodeconfig.Invalid, document.IndexPath(layoutPath, i), "is no name of a profile; use one that nvidia-smi mig -lgip prints, such as 1g.10gb")
			return nil
		}
	}
	return gpu.ProfileLayout
}

// isInMode succeeds where a device is in the mode in which it has partitions. Some are in it only after a reboot.
const isInMode = "nvidia-smi --query-gpu=mig.mode.current --format=csv,noheader | grep -q Enabled"

// planPartitions partitions the node's devices before the kubelet starts. Where the mode takes a reboot, the kubelet starts without
// partitions, and the machine is started again a minute after the provisioning has succeeded, once (AKS: ensureMigPartition).
func planPartitions(in *input, out *output, driver []resource.ID) {
	if !in.isPartitioned() {
		return
	}
	partitions := partitionsOf(in, out)
	if partitions == nil {
		return
	}
	file := resource.UnitDir + "/" + partitionUnit
	out.add(resource.Resource{
		Phase: resource.Join, ExitCode: exitcode.GPUDriverFailed, Reason: sourced("partitions the devices after every boot", in.family.Sources.GPU),
		Effects: resource.Effects{
			Class: resource.Reboot, Why: "a device is partitioned only while nothing uses it, and some take a reboot for it",
			Source: "NVIDIA: Multi-Instance GPU User Guide",
		},
		Spec: &resource.File{Path: file, Mode: 0o644, Content: unitFile(
			"[Unit]",
			"Description=Partition NVIDIA's devices",
			"DefaultDependencies=no",
			"Wants="+driverUnit,
			"After=local-fs.target "+driverUnit,
			"Conflicts=shutdown.target",
			"Before=shutdown.target",
			"Before="+kubeletUnit,
			"",
			"[Service]",
			"Type=oneshot",
			"RemainAfterExit=yes",
			"ExecStartPre=nvidia-smi -mig 1",
			"# A device that takes a reboot for the mode has no partitions before it.",
			"ExecStart=/bin/sh -c '"+isInMode+" || exit 0; nvidia-smi mig -dci; nvidia-smi mig -dgi; exec nvidia-smi mig -cgi "+strings.Join(partitions, ",")+" -C'",
			"",
			"[Install]",
			"WantedBy=multi-user.target",
		)},
	})
	out.enable(resource.Join, partitionUnit)
	partition := &resource.Command{
		Label: "partition-gpus", Argv: []string{"systemctl", "restart", partitionUnit}, Timeout: partitionPatience, Inputs: []string{file},
	}
	out.addTo(kubeletGroup, resource.Resource{
		Phase: resource.Join, Requires: driver, ExitCode: exitcode.GPUDriverFailed, Reason: "the kubelet finds the devices partitioned", Spec: partition,
	})
	out.add(resource.Resource{
		Phase: resource.Join, Requires: []resource.ID{resource.IDOf(partition), resource.IDOf(&resource.Check{Label: kubeletActive})},
		Reason: "devices that are not in the mode for partitions are after a reboot",
		Effects: resource.Effects{
			Class: resource.Reboot, Why: "a device may be in the mode for partitions only after a reboot", Source: "NVIDIA: Multi-Instance GPU User Guide",
		},
		Spec: &resource.Command{
			Label: "reboot-for-partitions", Argv: []string{"/bin/sh", "-c", isInMode + " || exec shutdown -r +1"},
			Timeout: startTimeout, Once: "reboot-for-partitions", Unconfined: true,
		},
	})
}
