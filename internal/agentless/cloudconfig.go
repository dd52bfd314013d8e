package agentless

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/cloudconfig"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// laidDown is a file that exists when cloud-init has finished everything.
	laidDown = "/var/lib/slipway/laid-down"
	// again makes cloud-init repeat everything at the boot after a power cut in the middle. cloud-init records that it
	// has begun, and takes that for done at the next boot (cloud-init docs, module frequency).
	again = `test -e ` + laidDown + ` || { cd /var/lib/cloud/instance/sem && rm -f config_write_files config_runcmd config_scripts_user; }`
)

// CloudConfig renders the machine as a #cloud-config. The first boot does everything. If it is interrupted, the next
// one does.
func (m *Machine) CloudConfig() []byte {
	out := []byte(cloudconfig.Header)
	out = fmt.Appendf(out, "# A node of the contract with the digest %s, without an agent.\n", m.Config)
	out = append(out, m.comment()...)
	out = cloudconfig.AppendCommands(out, "bootcmd", []string{"sh", "-c", again})
	out = append(out, cloudconfig.FilesHeader...)
	for _, file := range m.Files {
		out = cloudconfig.AppendFile(out, file.Path, file.Mode, file.Content)
	}
	return cloudconfig.AppendCommands(out, "runcmd", m.runs()...)
}

// comment lists what is not done.
func (m *Machine) comment() string {
	if len(m.Losses) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# What an agent would do, and this node does not:\n")
	for _, loss := range m.Losses {
		b.WriteString("#   " + loss.String() + "\n")
	}
	return b.String()
}

// runs are the commands that create the rest of the machine, and start it.
func (m *Machine) runs() [][]string {
	var runs [][]string
	run := func(argv ...string) { runs = append(runs, argv) }
	owner := func(uid, gid int, path string) {
		if uid != 0 || gid != 0 {
			run("chown", fmt.Sprintf("%d:%d", uid, gid), path)
		}
	}
	for _, d := range m.Directories {
		run("install", "-d", "-m", fmt.Sprintf("%04o", d.Mode), d.Path)
		owner(d.UID, d.GID, d.Path)
	}
	for _, f := range m.Files {
		owner(f.UID, f.GID, f.Path)
	}
	var parents []string
	for _, l := range m.Links {
		parents = append(parents, path.Dir(l.Path))
	}
	if slices.Sort(parents); len(parents) > 0 {
		run(append([]string{"mkdir", "-p"}, slices.Compact(parents)...)...)
	}
	for _, l := range m.Links {
		run("ln", "-sfn", l.Target, l.Path)
	}
	run("systemctl", "daemon-reload")
	for _, s := range m.States {
		run(stateCommand(s)...)
	}
	run("systemctl", "restart", setupName)
	if m.OnceDone != "" {
		run("systemctl", "start", onceName)
	}
	for _, unit := range m.Restarted {
		run("systemctl", "try-restart", unit)
	}
	for _, unit := range m.Reloaded {
		run("systemctl", "try-reload-or-restart", unit)
	}
	run(append([]string{"systemctl", "restart", "--no-block"}, m.Started...)...)
	run("mkdir", "-p", path.Dir(laidDown))
	run("sync")
	run("touch", laidDown)
	return runs
}

// stateCommand changes a unit of a running machine to its state.
func stateCommand(s *resource.UnitState) []string {
	switch s.State {
	case resource.UnitMasked:
		return []string{"systemctl", "mask", "--now", s.Unit}
	case resource.UnitDisabled:
		return []string{"systemctl", "disable", "--now", s.Unit}
	}
	return []string{"systemctl", "stop", s.Unit}
}
