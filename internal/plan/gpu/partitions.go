package gpu

import (
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// partitionUnit makes the partitions at each boot, because no device keeps them over one (NVIDIA: Multi-Instance GPU User Guide).
const (
	partitionUnit     = "slipway-gpu-partitions.service"
	partitionPatience = resource.Duration(5 * time.Minute)
)

// partitionProfiles are what a contract may want, with the numbers of the vendor's profiles, as many as one device has (AKS:
// mig-partition.sh).
var partitionProfiles = []struct{ name, partitions string }{
	{"MIG1g", "19,19,19,19,19,19,19"},
	{"MIG2g", "14,14,14"},
	{"MIG3g", "9,9"},
	{"MIG4g", "5"},
	{"MIG7g", "0"},
}

// maxPartitions is how many partitions a device has at most, and partitionLetters are those of a profile's name, such as
// 1g.10gb+me, with a comma between two.
const (
	maxPartitions    = 7
	partitionLetters = "abcdefghijklmnopqrstuvwxyz0123456789.+,"
)

// partitionsOf returns the profiles of one device's partitions; empty if there can be none. A layout names each of them.
func partitionsOf(in *concern.Input, out *concern.Output) string {
	gpu := in.GPU()
	layout := strings.Join(gpu.ProfileLayout, ",")
	if len(gpu.ProfileLayout) > maxPartitions || strings.Trim(layout, partitionLetters) != "" || slices.Contains(gpu.ProfileLayout, "") {
		out.Fatal(nodeconfig.Invalid, layoutPath, "wants at most %d names of profiles, such as 1g.10gb, as nvidia-smi mig -lgip prints them", maxPartitions)
		return ""
	}
	if layout != "" || gpu.InstanceProfile == "" {
		return layout
	}
	for _, p := range partitionProfiles {
		if p.name == gpu.InstanceProfile {
			return p.partitions
		}
	}
	out.Fatal(nodeconfig.Invalid, profilePath, "is no profile of partitions that is known; use MIG1g, MIG2g, MIG3g, MIG4g or MIG7g")
	return ""
}

// isInMode succeeds if a device is in the mode for partitions. Some devices need a reboot for that.
const isInMode = "nvidia-smi --query-gpu=mig.mode.current --format=csv,noheader | grep -q Enabled"

// partitionText is the unit. A device that takes a reboot for the mode has no partitions before it.
const partitionText = `[Unit]
Description=Partition NVIDIA's devices
DefaultDependencies=no
Wants=` + driverUnit + `
After=local-fs.target ` + driverUnit + `
Conflicts=shutdown.target
Before=shutdown.target
Before=` + concern.KubeletUnit + `

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStartPre=nvidia-smi -mig 1
ExecStart=` + facts.Bash + ` -c '` + isInMode + ` || exit 0; nvidia-smi mig -dci; nvidia-smi mig -dgi; exec nvidia-smi mig -cgi PARTITIONS -C'

[Install]
WantedBy=multi-user.target
`

// planPartitions partitions the node's devices before the kubelet starts. Where the mode takes a reboot, the kubelet starts without
// partitions, and the machine is started again a minute after the provisioning has succeeded, once (AKS: ensureMigPartition).
func planPartitions(in *concern.Input, out *concern.Output) {
	partitions := partitionsOf(in, out)
	if partitions == "" {
		return
	}
	file := resource.UnitDir + "/" + partitionUnit
	takes := resource.Effects{
		Class: resource.Reboot, Why: "a device is partitioned only while nothing uses it, and some take a reboot for it",
		Source: "NVIDIA: Multi-Instance GPU User Guide",
	}
	out.Join("", &resource.File{Path: file, Mode: 0o644, Content: []byte(strings.Replace(partitionText, "PARTITIONS", partitions, 1))},
		exitcode.GPUDriverFailed, concern.Sourced("partitions the devices after every boot", in.Family.Sources.GPU)).Effects = takes
	out.Enable(resource.Join, partitionUnit)
	partition := &resource.Command{
		Label: "partition-gpus", Argv: []string{"systemctl", "restart", partitionUnit}, Timeout: partitionPatience, Inputs: []string{file},
	}
	r := out.Join(concern.KubeletGroup, partition, exitcode.GPUDriverFailed, "the kubelet finds the devices partitioned")
	r.After = []resource.ID{resource.IDOf(&resource.Command{Label: driverAnswers}), resource.IDOf(&resource.Unit{Unit: facts.FabricManagerUnit})}
	r = out.Join("", shell("reboot-for-partitions", isInMode+" || exec shutdown -r +1", concern.StartTimeout), 0, "devices that are not in the mode for partitions are after a reboot")
	r.Requires, r.Effects = []resource.ID{resource.IDOf(partition), resource.IDOf(&resource.Check{Label: concern.KubeletActive})}, takes
}

// isPartitioned reports whether the node's devices are partitioned.
func isPartitioned(in *concern.Input) bool {
	return in.GPU().InstanceProfile != "" || len(in.GPU().ProfileLayout) > 0
}

const (
	profilePath = setting.GPU + ".instanceProfile"
	layoutPath  = setting.GPU + ".profileLayout"
)
