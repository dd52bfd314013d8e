package network

import (
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// receiveRings makes the receive rings of the network interfaces larger that a machine of Azure has with accelerated networking: a small
// ring loses packets when many arrive at once.
var receiveRings = concern.Concern{
	Name:  "receive rings",
	Joins: true, // each machine has its own interfaces
	Plan:  planRings,
}

const (
	// ringRules are rules of udev (udev(7)), after those that name an interface.
	ringRules = "/etc/udev/rules.d/99-slipway-rings.rules"
	ethtool   = "/usr/sbin/ethtool"
	// ringTimeout bounds a command to udev, which does not wait for the interfaces.
	ringTimeout = resource.Duration(10 * time.Second)
)

func planRings(in *concern.Input, out *concern.Output) {
	r := in.Family.Host.Rings
	if r.Slot == "" || in.Facts.Platform != facts.Azure || in.Facts.CPUs < r.CPUs {
		return
	}
	out.File(resource.Join, ringRules, 0o644, fmt.Appendf(nil, `# A ring that has another size than the driver's default is left alone. udev has other characters for tabs and line breaks.
ACTION!="remove", SUBSYSTEM=="net", ENV{ID_NET_NAME_SLOT}=="%s", PROGRAM=="%s -g %%k", RESULT=="*settings:?RX:??%d[!0-9]*", RUN+="%[2]s -G $name rx %[4]d"
`, r.Slot, ethtool, r.Default, r.Receive), concern.Sourced("interfaces of accelerated networking lose fewer packets", in.Family.Sources.Units))
	// A machine that boots needs neither: the rules are read before the interfaces are there.
	reload := &resource.Command{Label: "udev-rules", Argv: []string{"udevadm", "control", "--reload"}, Timeout: ringTimeout, Inputs: []string{ringRules}, Optional: true}
	out.Append(resource.Resource{Phase: resource.Join, Reason: "udev reads its rules again", Spec: reload})
	out.Append(resource.Resource{
		Phase: resource.Join, Requires: []resource.ID{resource.IDOf(reload)}, Reason: "interfaces that are there already have larger rings, too",
		Spec: &resource.Command{
			Label: "receive-rings", Argv: []string{"udevadm", "trigger", "--subsystem-match=net", "--property-match=ID_NET_NAME_SLOT=" + r.Slot},
			Timeout: ringTimeout, Inputs: []string{ringRules}, Optional: true,
		},
	})
}
