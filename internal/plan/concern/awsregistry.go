package concern

import (
	"slices"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// awsRegistry is a region's registry of EKS's system images, and the words between account and region in its name.
type awsRegistry struct{ Account, Service, Domain string }

// awsRegistries are the accounts of the registries by region (Amazon EKS User Guide, "View Amazon container image registries
// for Amazon EKS add-ons", and Amazon EKS AMI: get-ecr-uri.sh, for the regions that the guide does not list).
var awsRegistries = []struct{ region, account string }{
	{"af-south-1", "877085696533"},
	{"ap-east-1", "800184023465"},
	{"ap-east-2", "533267051163"},
	{"ap-northeast-1", "602401143452"},
	{"ap-northeast-2", "602401143452"},
	{"ap-northeast-3", "602401143452"},
	{"ap-south-1", "602401143452"},
	{"ap-south-2", "900889452093"},
	{"ap-southeast-1", "602401143452"},
	{"ap-southeast-2", "602401143452"},
	{"ap-southeast-3", "296578399912"},
	{"ap-southeast-4", "491585149902"},
	{"ap-southeast-5", "151610086707"},
	{"ap-southeast-6", "333609536671"},
	{"ap-southeast-7", "121268973566"},
	{"ca-central-1", "602401143452"},
	{"ca-west-1", "761377655185"},
	{"cn-north-1", "918309763551"},
	{"cn-northwest-1", "961992271922"},
	{"eu-central-1", "602401143452"},
	{"eu-central-2", "900612956339"},
	{"eu-isoe-west-1", "249663109785"},
	{"eu-north-1", "602401143452"},
	{"eu-south-1", "590381155156"},
	{"eu-south-2", "455263428931"},
	{"eu-west-1", "602401143452"},
	{"eu-west-2", "602401143452"},
	{"eu-west-3", "602401143452"},
	{"eusc-de-east-1", "877088126301"},
	{"il-central-1", "066635153087"},
	{"me-central-1", "759879836304"},
	{"me-south-1", "558608220178"},
	{"mx-central-1", "730335286997"},
	{"sa-east-1", "602401143452"},
	{"us-east-1", "602401143452"},
	{"us-east-2", "602401143452"},
	{"us-gov-east-1", "151742754352"},
	{"us-gov-west-1", "013241004608"},
	{"us-iso-east-1", "725322719131"},
	{"us-iso-west-1", "608367168043"},
	{"us-isob-east-1", "187977181151"},
	{"us-isob-west-1", "321162350305"},
	{"us-isof-east-1", "171035529773"},
	{"us-isof-south-1", "676585237158"},
	{"us-west-1", "602401143452"},
	{"us-west-2", "602401143452"},
}

// Region is the cluster's AWS region. Empty means that neither the contract nor the cloud names it.
func (in *Input) Region() string {
	if a := in.Config.Cloud.AWS; a != nil && a.Region != "" {
		return a.Region
	}
	if a := in.Config.Join.AWS; a != nil {
		return a.Region
	}
	return ""
}

// UsesFIPS reports whether the node uses endpoints of AWS with validated cryptography.
func (in *Input) UsesFIPS() bool {
	return in.Config.Cloud.AWS != nil && in.Config.Cloud.AWS.FIPSEndpoints
}

// Registry is the region's registry of system images. own reports whether the sandbox image comes from there: the family has a
// sandbox image, and the contract names no other.
func (in *Input) Registry() (registry awsRegistry, own bool) {
	region := in.Region()
	registry.Service, registry.Domain = "dkr.ecr", awsname.PartitionOf(region).Domain
	if in.UsesFIPS() {
		registry.Service += "-fips" // Amazon EKS AMI: get-ecr-uri.sh
	}
	for _, r := range awsRegistries {
		if r.region == region {
			registry.Account = r.account
		}
	}
	own = in.asksForSandbox() && in.SandboxArchive() == ""
	return registry, own
}

// asksForSandbox reports whether the contract leaves the sandbox image to a family that has its own.
func (in *Input) asksForSandbox() bool {
	return in.Family.Command.SandboxImage != "" && in.Config.Runtime.SandboxImage == nodeconfig.DefaultSandboxImage
}

// SandboxArchive is the path of the archive with the sandbox image on the machine's image. If nothing is known of this image, it is
// the path on all images of the family. Empty means that the image has no archive, or that the contract names another sandbox image.
func (in *Input) SandboxArchive() string {
	known := in.Facts.Components
	switch i := slices.IndexFunc(known, func(c components.Component) bool { return c.Name == "pause" && IsPlainPath(c.Path) }); {
	case !in.asksForSandbox():
		return ""
	case i >= 0:
		return known[i].Path
	case len(known) == 0 && in.Family.Runtime.SandboxImage != "":
		return profile.PauseArchive
	}
	return ""
}

// SandboxImage is the image of pods' sandboxes.
func (in *Input) SandboxImage() string {
	if in.SandboxArchive() != "" {
		return profile.HeldPause
	}
	registry, own := in.Registry()
	if !own {
		return in.Config.Runtime.SandboxImage
	}
	return registry.Account + "." + registry.Service + "." + in.Region() + "." + registry.Domain + "/" + in.Family.Command.SandboxImage
}
