package nodeconfig

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// Limits of the author's own files and units: each generation keeps all of them.
const (
	maxFiles     = 128
	maxFileBytes = 256 << 10
	maxUnits     = 64
	maxDropIns   = 16 // of a unit
	maxUnitBytes = 64 << 10
	maxAllBytes  = 1 << 20
)

// The default permissions of a file.
const (
	defaultMode       = "0644"
	defaultSecretMode = "0600"
)

func defaultFiles(files []File) {
	for i := range files {
		if f := &files[i]; f.Secret.IsZero() {
			setDefault(&f.Mode, defaultMode)
		} else {
			setDefault(&f.Mode, defaultSecretMode)
		}
	}
}

func defaultUnits(units []Unit) {
	for i := range units {
		if u := &units[i]; u.Content != "" && !isTemplate(u.Name) {
			setDefault(&u.State, UnitStarted)
		} else {
			setDefault(&u.State, UnitNone)
		}
	}
}

// Bytes returns the file's content. It is as secret as the file's Secret.
func (f *File) Bytes() ([]byte, error) {
	switch {
	case !f.Secret.IsZero():
		return []byte(f.Secret.Reveal()), nil
	case f.Base64 != "":
		content, err := base64.StdEncoding.DecodeString(f.Base64)
		if err != nil {
			return nil, fmt.Errorf("is not base64: %w", err)
		}
		return content, nil
	}
	return []byte(f.Content), nil
}

// Permissions returns the file's permission bits.
func (f *File) Permissions() (uint32, error) {
	mode, err := strconv.ParseUint(f.Mode, 8, 32)
	if err != nil || !consists(f.Mode, 3, 4, &digit) {
		return 0, fmt.Errorf("is no mode of three or four octal digits, such as %q", defaultMode)
	}
	return uint32(mode), nil
}

// files validates the author's files.
func (v *validator) files(c *NodeConfig) {
	if len(c.Files) > maxFiles {
		v.vital("$.files", fmt.Sprintf("are more than %d", maxFiles))
	}
	kept := make(map[string]bool)
	for i := range c.Units {
		if c.Units[i].State.Kept() {
			kept[c.Units[i].Name] = true
		}
	}
	seen := make(map[string]bool)
	for i := range c.Files {
		f, at := &c.Files[i], document.IndexPath("$.files", i)
		switch {
		case f.Path == "":
			v.missing(at+".path", "is missing")
		case seen[f.Path]:
			v.vital(at+".path", "is the path of an earlier file too")
		default:
			if reason := cmp.Or(checkAbsolute(f.Path), place.UserFile.Check(f.Path)); reason != "" {
				v.vital(at+".path", reason)
			}
		}
		seen[f.Path] = true
		v.content(f, at)
		for _, units := range []struct {
			name  string
			units []string
		}{{".restarts", f.Restarts}, {".reloads", f.Reloads}} {
			for j, name := range units.units {
				if reason := checkAffected(name, kept); reason != "" {
					v.vital(document.IndexPath(at+units.name, j), reason)
				}
			}
		}
	}
	if authored(c) > maxAllBytes {
		v.vital("$.files", fmt.Sprintf("have more than %d bytes, together with the units", maxAllBytes))
	}
}

// content validates a file's content and mode.
func (v *validator) content(f *File, at string) {
	secret := !f.Secret.IsZero()
	switch {
	case secret && f.Content != "", secret && f.Base64 != "":
		v.vital(at+".secret", "is given, and another content too: give one of content, base64 and secret")
	case f.Content != "" && f.Base64 != "":
		v.vital(at+".base64", "is given, and content too: give one of them")
	}
	if content, err := f.Bytes(); err != nil {
		v.vital(at+".base64", "is not base64")
	} else if len(content) > maxFileBytes {
		v.vital(at, fmt.Sprintf("has more than %d bytes", maxFileBytes))
	}
	switch mode, err := f.Permissions(); {
	case err != nil:
		v.vital(at+".mode", err.Error())
	case secret && mode != 0o600 && mode != 0o400:
		v.vital(at+".mode", "must be 0600 or 0400: the file is secret")
	case mode&^0o755 != 0 || mode&0o400 == 0:
		v.vital(at+".mode", "must let root read the file, and only root write it, without further bits: 0755 at most")
	}
}

// authored returns the total size of the author's files and units in the document.
func authored(c *NodeConfig) int {
	sum := 0
	for i := range c.Files {
		f := &c.Files[i]
		sum += len(f.Content) + len(f.Base64) + len(f.Secret.Reveal())
	}
	for i := range c.Units {
		sum += len(c.Units[i].Content)
		for _, d := range c.Units[i].DropIns {
			sum += len(d.Content)
		}
	}
	return sum
}

// checkAffected returns what is wrong with a unit that should restart or reload when a file changes.
func checkAffected(name string, kept map[string]bool) string {
	switch reason := checkUnitName(name); {
	case reason != "":
		return reason
	case isTemplate(name):
		return "is a template; name one of its instances"
	case profile.IsAgentUnit(name):
		return "is a unit of the agent, which does this: it cannot restart itself"
	case kept[name]:
		return "is a unit that must not run, by the contract's units"
	}
	return ""
}

// unitKinds are the kinds of units that have files (systemd.unit(5)).
var unitKinds = []string{".automount", ".mount", ".path", ".service", ".slice", ".socket", ".swap", ".target", ".timer"}

// checkUnitName returns what is wrong with a unit's name (systemd.unit(5)).
func checkUnitName(name string) string {
	kind := path.Ext(name)
	stem := strings.TrimSuffix(name, kind)
	if !slices.Contains(unitKinds, kind) || len(name) > 255 || !consists(stem, 1, 255, &unitCharacter) || strings.IndexByte("-.@", stem[0]) >= 0 {
		return "is not the name of a unit, such as backup.service"
	}
	return ""
}

// units validates the author's units.
func (v *validator) units(c *NodeConfig) {
	if len(c.Units) > maxUnits {
		v.vital("$.units", fmt.Sprintf("are more than %d", maxUnits))
	}
	seen := make(map[string]bool)
	for i := range c.Units {
		u, at := &c.Units[i], document.IndexPath("$.units", i)
		switch reason := checkUnitName(u.Name); {
		case u.Name == "":
			v.missing(at+".name", "is missing")
		case seen[u.Name]:
			v.vital(at+".name", "is the name of an earlier unit too; say all of a unit in one place")
		case reason != "":
			v.vital(at+".name", reason)
		}
		seen[u.Name] = true
		v.unit(u, at)
		v.dropIns(u, at+".dropIns")
	}
}

// unit validates the settings of a unit.
func (v *validator) unit(u *Unit, at string) {
	switch {
	case profile.IsOwnUnit(u.Name):
		const reason = "is not the contract's to say of a unit of Slipway's; give it drop-ins"
		if u.Content != "" {
			v.vital(at+".content", reason)
		}
		if u.State != UnitNone {
			v.vital(at+".state", reason)
		}
		if u.Enabled {
			v.vital(at+".enabled", reason)
		}
		return
	case u.Content != "" && isSystemUnit(u.Name):
		v.vital(at+".content", "would take the place of a unit of the operating system; give it drop-ins")
	}
	stays := path.Ext(u.Name) == ".target" || path.Ext(u.Name) == ".slice"
	switch {
	case u.State.Kept() && u.Enabled:
		v.vital(at+".enabled", "is true, and the state says that the unit does not run")
	case u.State.Kept() && (stays || isBus(u.Name)):
		v.vital(at+".state", "is not possible for this unit, which others need")
	case u.State == UnitMasked && u.Content != "":
		v.vital(at+".state", "is Masked, and content is given: a unit that is masked has none")
	case u.State != UnitNone && u.State != UnitMasked && isTemplate(u.Name), u.Enabled && isTemplate(u.Name):
		v.vital(at+".name", "is a template, which cannot run; name one of its instances for that")
	}
	if u.Content == "" {
		return
	}
	if reason := checkUnitText(u.Content); reason != "" {
		v.vital(at+".content", reason)
		return
	}
	v.runs(u, at)
}

// runs validates that a unit with content can be started and enabled.
func (v *validator) runs(u *Unit, at string) {
	oneshot := last(unitfile.Values(u.Content, "Service", "Type")) == "oneshot"
	stays := unitfile.IsOn(last(unitfile.Values(u.Content, "Service", "RemainAfterExit")))
	if u.State == UnitStarted && oneshot && !stays {
		v.vital(at+".state", "is Started, and the unit ends at once (Type=oneshot), so that it would be run at each comparison: "+
			"add RemainAfterExit=yes to it, or say state: None and have a timer start it")
	}
	if !u.Enabled {
		return
	}
	for _, name := range []string{"Alias", "Also", "RequiredBy", "UpheldBy"} {
		if len(wordsOf(unitfile.Values(u.Content, "Install", name))) > 0 {
			v.vital(at+".content", name+"= in [Install] is not applied; use WantedBy=")
		}
	}
	for _, target := range u.WantedBy() {
		if checkUnitName(target) != "" || isTemplate(target) {
			v.vital(at+".content", "WantedBy= in [Install] must name units, without specifiers")
		}
	}
}

func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// dropIns validates the drop-ins of a unit.
func (v *validator) dropIns(u *Unit, at string) {
	if len(u.DropIns) > maxDropIns {
		v.vital(at, fmt.Sprintf("are more than %d", maxDropIns))
	}
	seen := make(map[string]bool)
	for i, d := range u.DropIns {
		here := document.IndexPath(at, i)
		stem, isConf := strings.CutSuffix(d.Name, ".conf")
		switch reason := place.Check(DropInPath(u.Name, d.Name)); {
		case d.Name == "":
			v.missing(here+".name", "is missing")
		case seen[d.Name]:
			v.vital(here+".name", "is the name of an earlier drop-in of the unit too")
		case !isConf || !consists(stem, 1, 200, &labelCharacter) || stem[0] == '.':
			v.vital(here+".name", "must be of letters, digits and . _ -, and end in .conf, such as 10-limits.conf")
		case reason != "" && checkUnitName(u.Name) == "":
			v.vital(here+".name", reason)
		}
		seen[d.Name] = true
		if reason := checkUnitText(d.Content); reason != "" {
			v.vital(here+".content", reason)
		}
	}
}

// UnitPath returns the path of an administrator's unit file (systemd.unit(5)).
func UnitPath(unit string) string { return "/etc/systemd/system/" + unit }

// DropInPath returns the path of an administrator's drop-in for a unit.
func DropInPath(unit, dropIn string) string { return UnitPath(unit) + ".d/" + dropIn }

// checkUnitText returns what is wrong with a unit file or a drop-in: systemd ignores settings outside a section.
func checkUnitText(content string) string {
	first := firstLine(content)
	switch {
	case first == "":
		return "is empty"
	case len(content) > maxUnitBytes:
		return fmt.Sprintf("has more than %d bytes", maxUnitBytes)
	case first[0] != '[':
		return "must begin with a section, such as [Service]"
	case strings.ContainsAny(content, "\r"):
		return "has a carriage return; end lines with a line feed alone"
	}
	return ""
}

// systemTargets are targets that a boot needs (systemd.special(7), bootup(7)).
var systemTargets = []string{
	"basic", "default", "emergency", "final", "getty", "graphical", "halt", "local-fs", "local-fs-pre", "multi-user", "network", "network-online",
	"network-pre", "paths", "poweroff", "reboot", "remote-fs", "rescue", "shutdown", "slices", "sockets", "swap", "sysinit", "timers", "umount",
}

// isSystemUnit reports whether a machine needs a unit to run.
func isSystemUnit(name string) bool {
	target, isTarget := strings.CutSuffix(name, ".target")
	return isBus(name) || strings.HasPrefix(name, "systemd-") || strings.HasPrefix(name, "initrd-") || isTarget && slices.Contains(systemTargets, target)
}

// isBus reports whether a unit is the system's bus, which Slipway uses to call systemd.
func isBus(name string) bool {
	return slices.Contains([]string{"dbus.service", "dbus.socket", "dbus-broker.service"}, name)
}

// Limits of the author's own commands. An argument of a process is at most 128 KiB (execve(2)), and systemd's line may double in
// size by its quotes.
const (
	maxCommands     = 64
	maxCommandBytes = 16 << 10
)

// commands validates the author's commands. The check of all strings finds a NUL in a text.
func (v *validator) commands(c *NodeConfig) {
	if len(c.Commands) > maxCommands {
		v.vital("$.commands", fmt.Sprintf("are more than %d", maxCommands))
	}
	for i := range c.Commands {
		command, at := &c.Commands[i], document.IndexPath("$.commands", i)
		switch size := len(command.Text); {
		case size == 0:
			v.missing(at+".text", "is missing")
		case size > maxCommandBytes:
			v.vital(at+".text", fmt.Sprintf("has more than %d bytes; put what it does in a file, and run that", maxCommandBytes))
		}
		if command.Replaces && i < len(c.Commands)-1 {
			v.vital(at+".replaces", "is true, and commands follow: the one that starts the kubelet must be the last")
		}
	}
}
