package systemd

import (
	"cmp"
	"strings"
	"time"
)

// Summary describes in one line how long the stages of the boot took, as systemd-analyze does. It is empty while the
// boot continues.
func (b BootTimes) Summary() string {
	if b.FinishAfter == 0 {
		return ""
	}
	var stages []string
	add := func(took time.Duration, stage string) {
		if took > 0 {
			stages = append(stages, seconds(took)+" ("+stage+")")
		}
	}
	if b.FirmwareBefore > b.LoaderBefore {
		add(b.FirmwareBefore-b.LoaderBefore, "firmware")
	}
	add(b.LoaderBefore, "loader")
	add(cmp.Or(b.InitRDAfter, b.UserspaceAfter), "kernel")
	if b.InitRDAfter > 0 {
		add(b.UserspaceAfter-b.InitRDAfter, "initrd")
	}
	add(b.FinishAfter-b.UserspaceAfter, "userspace")
	return "Startup finished in " + strings.Join(stages, " + ") + " = " + seconds(b.FirmwareBefore+b.FinishAfter)
}

func seconds(d time.Duration) string { return d.Round(time.Millisecond).String() }
