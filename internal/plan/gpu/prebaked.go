package gpu

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// removePrebaked removes a driver that the image was built with for other machines: otherwise it would be rebuilt for every new
// kernel. A driver of another version was installed on purpose, and stays (AKS: cleanUpPrebakedGPUDriver). A module that is in
// use stays until the next boot.
const removePrebaked = `marker=` + facts.PrebakedMarker + `
version=$(sed -n 's/^driver_version=//p' "$marker" | head -n 1)
for other in $(ls /var/lib/dkms/nvidia 2>/dev/null | grep '^[0-9]') $(modinfo -F version nvidia 2>/dev/null) $(cat /sys/module/nvidia/version 2>/dev/null); do
    [ -z "$version" ] || [ "$other" = "$version" ] || exit 0
done
modprobe -r nvidia_drm nvidia_modeset nvidia_uvm nvidia_peermem nvidia 2>/dev/null
rm -rf /var/lib/dkms/nvidia /usr/bin/lib64
rm -f /lib/modules/*/updates/dkms/nvidia*.ko* /etc/ld.so.conf.d/nvidia.conf
cd /usr/bin && rm -f nvidia-smi nvidia-debugdump nvidia-persistenced nvidia-cuda-mps-control nvidia-cuda-mps-server nvidia-modprobe nvidia-bug-report.sh nvidia-powerd nvidia-ngx-updater nvidia-sleep.sh
ldconfig
mv -f "$marker" "$marker` + facts.PrebakedGone + `"
`

// planPrebaked removes such a driver from a node that uses none, after the kubelet has started.
func planPrebaked(in *concern.Input, out *concern.Output) {
	if in.UsesNVIDIA() || !in.Family.GPU.Prebaked || in.Facts.PrebakedDriver == "" {
		return
	}
	command := shell("remove-prebaked-driver", removePrebaked, concern.StartTimeout)
	command.Optional = true
	r := out.Join("", command, 0, concern.Sourced("the image's driver for GPUs is of no use here, and costs time with every new kernel", in.Family.Sources.GPU))
	r.After = []resource.ID{resource.IDOf(&resource.Check{Label: concern.KubeletActive})}
}

// transcoderModule is its driver.
const transcoderModule = "ama_transcoder"

// planTranscoder loads the driver of AMD's accelerator for video, which the image has to have.
func planTranscoder(in *concern.Input, out *concern.Output) {
	if !in.Transcodes() {
		return
	}
	out.Join(concern.KubeletGroup, &resource.Module{Module: transcoderModule}, exitcode.TranscoderMissing,
		concern.Sourced("the driver of the size's accelerator for video, which the image has to have", in.Family.Sources.GPU))
}
