package concern

import (
	"path"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// ImageUnit returns the path of a unit of the machine's image, or "".
func (in *Input) ImageUnit(name string) string {
	for _, at := range in.Facts.Units {
		if path.Base(at) == name && IsPlainPath(at) {
			return at
		}
	}
	return ""
}

// UnitAt returns the path of a unit of the machine's image. If nothing is known of the image's units, which the agent reads only on
// Azure, it is the usual path. It is empty if the facts show that the image does not have the unit.
func (in *Input) UnitAt(name string) string {
	if at := in.ImageUnit(name); at != "" || in.Facts.Platform == facts.Azure && len(in.Facts.Components) > 0 {
		return at
	}
	return facts.VendorUnits + "/" + name
}

// RunUnit has a unit run that is at a path, now and from every boot on, and what requires the group waits for it. It may end when
// it is done and has no code, as ensure-no-dup.service does, and a node is one without it.
func (o *Output) RunUnit(g Group, at string, code int, reason string) *resource.Resource {
	unit, target := path.Base(at), "multi-user.target"
	if strings.HasSuffix(unit, ".timer") {
		target = "timers.target"
	}
	link := &resource.Symlink{Path: resource.UnitDir + "/" + target + ".wants/" + unit, Target: at}
	o.Join("", link, 0, "starts at boot")
	if code == 0 {
		return o.Join(g, &resource.Command{
			Label: "start-" + strings.TrimSuffix(unit, ".service"), Argv: []string{"systemctl", "start", "--no-block", unit},
			Timeout: StartTimeout, Inputs: []string{link.Path}, Optional: true,
		}, 0, reason)
	}
	return o.Join(g, &resource.Unit{Unit: unit}, code, reason)
}

// StartTimeout bounds the order to start a unit, which is not waited for.
const StartTimeout = resource.Duration(30 * time.Second)

// ManagerDefaults is a file that gives variables to all services that systemd starts (systemd-system.conf(5),
// DefaultEnvironment=, which adds up).
func ManagerDefaults(name string, variables [][2]string, secret bool, effects resource.Effects, reason string) resource.Resource {
	lines := []unitfile.Line{unitfile.Section("Manager")}
	for _, v := range variables {
		lines = append(lines, unitfile.Assign("DefaultEnvironment", unitfile.Quote(v[0]), v[1]))
	}
	file := &resource.File{Path: managerDir + name, Mode: 0o644, Content: unitfile.File(lines...), Secret: secret}
	if secret {
		file.Mode = 0o600
	}
	return resource.Resource{Phase: resource.Base, Effects: effects, Reason: reason, Spec: file}
}
