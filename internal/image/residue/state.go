package residue

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
)

// states are the checks of files that must be there, and right.
var states = []func(*examination) error{(*examination).machineID, (*examination).passwords, (*examination).hostName, (*examination).units}

// The rules of machineID. machine-id(5) has the three forms of the file.
var (
	sharedMachineID = rule{
		"machine-id", Error, "all machines of the image would have the same machine ID, by which journals, DHCP servers and clusters tell them apart", "empty /etc/machine-id, and make /var/lib/dbus/machine-id a link to it"}
	firstBoot = rule{
		"first-boot", Warning, "without an empty /etc/machine-id, systemd takes each boot of a new machine for the first one, and applies the presets of every unit, which takes seconds", "create /etc/machine-id as an empty file"}
)

// machineID demands an empty file.
func (e *examination) machineID() error {
	const name, copied = "etc/machine-id", "var/lib/dbus/machine-id"
	id, err := e.word(name)
	if err != nil {
		return err
	}
	switch {
	case !e.exists(name), id == "uninitialized":
		e.add(&firstBoot, name)
	case id != "":
		e.add(&sharedMachineID, name)
	}
	// D-Bus gives its copy to systemd, if systemd has no ID.
	if id, err = e.word(copied); err == nil && id != "" {
		e.add(&sharedMachineID, copied)
	}
	return err
}

// passwords are the rules of shadow(5).
var (
	sharedPassword = rule{
		"passwords", Error, "an account of each machine of the image has the same password", "lock the account (passwd --lock), or remove it"}
	noPassword = rule{
		"no-password", Error, "an account of each machine of the image can be used without a password", "lock the account (passwd --lock), or remove it"}
)

// passwords looks for accounts with a password.
func (e *examination) passwords() error {
	const name = "etc/shadow"
	data, err := e.read(name)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch password, _, fields := strings.Cut(rest, ":"); {
		case !fields:
		case password == "":
			e.add(&noPassword, name)
		case strings.ContainsAny(password[:1], "$_") || len(password) == 13 && !strings.ContainsAny(password, "*!"):
			e.add(&sharedPassword, name)
		}
	}
	return nil
}

var builderName = rule{
	"host-name", Warning, "a machine whose cloud gives it no name would have the name of the one on which the image was built", "delete /etc/hostname, or write localhost into it"}

// neutralNames are names in /etc/hostname that no machine has (hostname(5)).
var neutralNames = []string{"", "localhost", "localhost.localdomain"}

// hostName looks for the name of the builder.
func (e *examination) hostName() error {
	const name = "etc/hostname"
	builder, err := e.word(name)
	if err == nil && !slices.Contains(neutralNames, strings.ToLower(builder)) {
		e.add(&builderName, name)
	}
	return err
}

// The rules of units.
var (
	agentNotEnabled = rule{
		"agent-not-enabled", Error, "nothing starts Slipway's agent, so that no machine of the image becomes a node", "enable slipway-provision.service and slipway-provision.path in the image: systemctl --root DIR enable slipway-provision.service slipway-provision.path"}
	agentForbidden = rule{
		"agent-forbidden", Error, "with this file, the agent provisions nothing: no machine of the image becomes a node", "delete the file; it is for the machine on which the image is built"}
	maskedUnits = rule{
		"masked-units", Error, "a node needs the unit, and systemd starts no masked unit", "unmask it: systemctl --root DIR unmask UNIT"}
)

// The directories of units, by precedence (systemd.unit(5)).
var unitDirectories = []string{"etc/systemd/system", "usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"}

// agentUnits start the agent: at boot, and when a contract comes later.
var agentUnits = []string{profile.AgentUnit, "slipway-provision.path"}

// units demands that the agent, if it is there, is started.
func (e *examination) units() error {
	const forbids = "etc/slipway/no-provision"
	if e.exists(forbids) {
		e.add(&agentForbidden, forbids)
	}
	for _, unit := range slices.Concat(agentUnits, []string{profile.ContainerdUnit, profile.KubeletUnit}) {
		name := path.Join(unitDirectories[0], unit)
		if masked, err := e.masked(name); err != nil {
			return err
		} else if masked {
			e.add(&maskedUnits, name)
		}
	}
	if !e.exists(strings.TrimPrefix(profile.Default().Agent.Program, "/")) {
		return nil
	}
	for _, unit := range agentUnits {
		if !e.enabled(unit) {
			e.add(&agentNotEnabled, path.Join(unitDirectories[0], unit))
		}
	}
	return nil
}

// enabled reports whether a target wants or requires a unit.
func (e *examination) enabled(unit string) bool {
	for name := range e.has {
		directory := path.Dir(name)
		if path.Base(name) == unit && (strings.HasSuffix(directory, ".wants") || strings.HasSuffix(directory, ".requires")) && slices.Contains(unitDirectories, path.Dir(directory)) {
			return true
		}
	}
	return false
}

// masked reports whether the file of a unit is a link to /dev/null.
func (e *examination) masked(name string) (bool, error) {
	if e.has[name]&fs.ModeSymlink == 0 {
		return false, nil
	}
	target, err := fs.ReadLink(e.tree, name)
	return err == nil && path.Clean(target) == "/dev/null", err
}
