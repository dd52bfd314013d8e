package unitfile

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Source is one file of a unit.
type Source struct{ Path, Content string }

// Fault is a part of a unit's files that systemd refuses or ignores.
type Fault struct {
	// Path is the file, and Line the line, from 1. Line 0 means the file as a whole.
	Path string
	Line int
	// Refused reports that systemd does not start the unit. Otherwise systemd ignores the line.
	Refused bool
	Reason  string
}

// Judge returns what systemd refuses or ignores of a unit: the file that defines it, and its drop-ins in their order.
// The file is nil for an unknown unit of the image. In a drop-in, systemd stops at a line that it would refuse in the
// file itself, and starts the unit with what it has read (systemd 252, src/core/load-dropin.c: unit_load_dropin ignores
// the result of config_parse).
func Judge(unit string, file *Source, dropIns []Source) []Fault {
	u := load(unit, file, dropIns)
	if !slices.ContainsFunc(u.faults, func(f Fault) bool { return f.Refused }) {
		for i := range refusals {
			if r := &refusals[i]; r.kind == u.kind && (file != nil || r.partial) && r.refuses(u) {
				u.report(u.last(r.at), true, r.reason)
			}
		}
	}
	if started := u.given["ExecStart"]; file == nil && u.kind == ".service" && len(started) > 0 && !u.emptied["ExecStart"] && !u.has("Type") {
		u.report(started[0], false, "adds an ExecStart= to that of the image's unit, and systemd would not start it unless it is of Type=oneshot; begin with an empty ExecStart= to replace that")
	}
	return u.faults
}

// Loaded is a unit as systemd reads it.
type Loaded struct {
	name, kind string
	known      bool // whether the file that defines it is known
	// given are the effective settings, by the setting or list that they belong to: for a list, all that follow the
	// last empty one.
	given map[string][]Given
	// emptied are the names of lists that an empty value has cleared.
	emptied map[string]bool
	// replaced are settings without effect.
	replaced []Replaced
	faults   []Fault
}

// Given is an effective setting, or one of several.
type Given struct {
	Setting
	// Path is its file.
	Path string
}

// Replaced is a setting without effect, and the one that replaces it by another value, or clears its list.
type Replaced struct{ Lost, By Given }

// Replaced returns the settings without effect, each with the one that replaces it or clears its list.
func (u *Loaded) Replaced() []Replaced {
	for i := range u.replaced {
		r := &u.replaced[i]
		if k := keyOf(r.By.Section, r.By.Key); k.list == "" {
			r.By = u.last(k.name(r.By))
		}
	}
	return slices.DeleteFunc(u.replaced, func(r Replaced) bool { return r.Lost.Value == r.By.Value })
}

// drop removes the values of a name, because of a later setting.
func (u *Loaded) drop(name string, by Given) {
	for _, lost := range u.given[name] {
		u.replaced = append(u.replaced, Replaced{lost, by})
	}
	delete(u.given, name)
}

// sectionsOf are the sections of each kind of unit (systemd.unit(5)).
var sectionsOf = map[string]string{
	".automount": "Automount", ".mount": "Mount", ".path": "Path", ".service": "Service", ".slice": "Slice", ".socket": "Socket", ".swap": "Swap",
	".target": "Target", ".timer": "Timer",
}

// load reads the files of a unit.
func load(unit string, file *Source, dropIns []Source) *Loaded {
	u := &Loaded{name: unit, kind: path.Ext(unit), known: file != nil, given: make(map[string][]Given), emptied: make(map[string]bool)}
	sections := []string{"Unit", sectionsOf[u.kind], "Install"}
	if file != nil {
		u.read(*file, sections, false)
	}
	for _, d := range dropIns {
		u.read(d, sections, true)
	}
	return u
}

// Read returns a unit with its effective settings.
func Read(unit string, file *Source, dropIns []Source) *Loaded { return load(unit, file, dropIns) }

// Given returns the effective settings of a list, or the effective one of another setting, by the key's name. Settings
// of [Unit] and [Install] have the section before the key.
func (u *Loaded) Given(key string) []Given { return u.given[key] }

func (u *Loaded) read(s Source, sections []string, isDropIn bool) {
	r := read(s.Content, sections)
	for _, f := range r.faults {
		f.Path = s.Path
		f.Refused = f.Refused && !isDropIn
		if isDropIn && r.stops && f.Line == r.faults[len(r.faults)-1].Line {
			f.Reason += stopsThere
		}
		u.faults = append(u.faults, f)
	}
	for _, setting := range r.settings {
		if !u.apply(Given{setting, s.Path}, isDropIn) {
			return
		}
	}
}

const stopsThere = "; systemd does not read the rest of this drop-in"

// apply applies a setting, and reports whether systemd continues to read.
func (u *Loaded) apply(g Given, isDropIn bool) bool {
	k := keyOf(g.Section, g.Key)
	if k.kind == unknownKey {
		if !strings.HasPrefix(g.Key, "X-") {
			u.report(g, false, "is a setting that systemd does not know in ["+g.Section+"] and ignores"+nearestKey(g.Section, g.Key))
		}
		return true
	}
	name := k.name(g)
	if g.Value == "" && k.list != "" {
		u.drop(name, g)
		u.emptied[name] = true
		return true
	}
	entries, v := 1, verdict{}
	if k.check != nil {
		entries, v = k.check(u.name, g.Value)
	} else if why := k.takes(expand(u.name, g.Value)); why != "" {
		entries, v = 0, verdict{why: why}
	}
	if v.why != "" {
		reason := g.Key + "= " + v.why
		if v.refused && isDropIn {
			reason += stopsThere
		} else if !v.refused {
			reason += "; systemd ignores it"
		}
		u.report(g, v.refused && !isDropIn, reason)
	}
	if entries == emptied || k.list == "" && entries > 0 {
		u.drop(name, g)
	}
	for range max(0, entries) {
		u.given[name] = append(u.given[name], g)
	}
	return !v.refused
}

func (u *Loaded) report(g Given, refused bool, reason string) {
	u.faults = append(u.faults, Fault{Path: g.Path, Line: g.Line, Refused: refused, Reason: reason})
}

// last is the last effective setting with one of the names.
func (u *Loaded) last(names string) Given {
	for name := range strings.FieldsSeq(names) {
		if all := u.given[name]; len(all) > 0 {
			return all[len(all)-1]
		}
	}
	return Given{}
}

func (u *Loaded) has(name string) bool { return len(u.given[name]) > 0 }

// value is the effective value of a setting, with expanded specifiers.
func (u *Loaded) value(name string) string { return expand(u.name, u.last(name).Value) }

func (u *Loaded) isOn(name string) bool { return IsOn(u.value(name)) }

// isOneshot reports whether a service ends when its command ends. That is also true for one without a type and a start
// command (src/core/service.c, service_add_extras).
func (u *Loaded) isOneshot() bool {
	if u.has("Type") {
		return u.value("Type") == "oneshot"
	}
	return !u.has("BusName") && !u.has("ExecStart")
}

// ends reports whether the service's success ends the machine, so that the unit needs no command.
func (u *Loaded) ends() bool {
	return u.has("Unit.SuccessAction") && u.value("Unit.SuccessAction") != "none"
}

// fits reports whether the path in a setting fits the unit's name. Without the setting, the name must be a path's.
func (u *Loaded) fits(key string) bool {
	stem := strings.TrimSuffix(u.name, u.kind)
	if !u.has(key) {
		return isPathName(stem)
	}
	return PathName(u.value(key)) == stem
}

// Assigned is an environment variable from a setting, with its value.
type Assigned struct {
	Given
	Name, Text string
}

// Assigned returns a unit's variables in the order in which systemd sets them: those of Environment=, and then those of
// the files in EnvironmentFile=, if file returns their text (systemd.exec(5)).
func (u *Loaded) Assigned(file func(path string) (content string, ok bool)) (all []Assigned) {
	for _, g := range u.given["Environment"] {
		for rest := g.Value; rest != ""; {
			var w word
			w, rest, _ = nextWord(rest)
			if name, text, ok := strings.Cut(expand(u.name, w.text), "="); ok {
				all = append(all, Assigned{g, name, text})
			}
		}
	}
	for _, g := range u.given["EnvironmentFile"] {
		at := strings.TrimPrefix(expand(u.name, g.Value), "-")
		content, ok := file(at)
		if !ok {
			continue
		}
		variables := Environment(content)
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			all = append(all, Assigned{Given{Path: at}, name, variables[name]})
		}
	}
	return all
}

// refusal is a reason for which systemd refuses a whole unit.
type refusal struct {
	kind    string
	refuses func(u *Loaded) bool
	// partial reports that the refusal is certain even without the file that defines the unit.
	partial bool
	// at are names of settings; the first one that is set has the fault.
	at     string
	reason string
	source string
}

// The sources, all of systemd 252, compared with the main branch of 2026. Those of values are in rules.go.
const (
	inService = "src/core/service.c: service_verify"
	inSocket  = "src/core/socket.c: socket_verify"
	inMount   = "src/core/mount.c: mount_verify, mount_add_extras"
)

var refusals = [...]refusal{
	{kind: ".service", at: "ExecStart Type", reason: "the service has no ExecStart=, ExecStop= or SuccessAction=", source: inService,
		refuses: func(u *Loaded) bool { return !u.has("ExecStart") && !u.has("ExecStop") && !u.ends() }},
	{kind: ".service", at: "Type ExecStop", reason: "the service has no ExecStart=, which only Type=oneshot can be without", source: inService,
		refuses: func(u *Loaded) bool { return !u.isOneshot() && !u.has("ExecStart") && (u.has("ExecStop") || u.ends()) }},
	{kind: ".service", at: "ExecStop Type", reason: "the service has neither ExecStart= nor SuccessAction=, which takes RemainAfterExit=yes", source: inService,
		refuses: func(u *Loaded) bool {
			return u.isOneshot() && !u.has("ExecStart") && u.has("ExecStop") && !u.ends() && !u.isOn("RemainAfterExit")
		}},
	{kind: ".service", at: "ExecStart", partial: true, reason: "is a second ExecStart=, which only a service of Type=oneshot can have; begin with an empty ExecStart= to replace the first", source: inService,
		refuses: func(u *Loaded) bool {
			return len(u.given["ExecStart"]) > 1 && !u.isOneshot() && (u.known || u.has("Type"))
		}},
	{kind: ".service", at: "Restart", partial: true, reason: "a service of Type=oneshot cannot have Restart=always or Restart=on-success", source: inService,
		refuses: func(u *Loaded) bool {
			return u.oneshot() && (u.value("Restart") == "always" || u.value("Restart") == "on-success")
		}},
	{kind: ".service", at: "ExitType", partial: true, reason: "a service of Type=oneshot cannot have ExitType=cgroup", source: inService,
		refuses: func(u *Loaded) bool { return u.oneshot() && u.value("ExitType") == "cgroup" }},
	{kind: ".service", at: "Type", reason: "a service of Type=dbus takes BusName=", source: inService,
		refuses: func(u *Loaded) bool { return u.value("Type") == "dbus" && !u.has("BusName") }},
	{kind: ".service", at: "PAMName", partial: true, reason: "PAMName= takes KillMode=control-group or KillMode=mixed", source: inService + "; until 253",
		refuses: func(u *Loaded) bool {
			return u.has("PAMName") && (u.value("KillMode") == "process" || u.value("KillMode") == "none")
		}},
	{kind: ".socket", at: "Accept Symlinks", reason: "the socket has no setting such as ListenStream=", source: inSocket,
		refuses: func(u *Loaded) bool { return !u.has("Listen") }},
	{kind: ".socket", at: "Listen", partial: true, reason: "a socket's path has .., for which systemd requires no mounts", source: "src/core/socket.c: socket_add_mount_dependencies",
		refuses: func(u *Loaded) bool {
			return slices.ContainsFunc(u.given["Listen"], func(g Given) bool { return strings.HasPrefix(g.Value, "/") && !isPath(expand(u.name, g.Value)) })
		}},
	{kind: ".socket", at: "Accept", partial: true, reason: "Accept=yes takes sockets that accept connections: ListenStream= or ListenSequentialPacket=", source: inSocket,
		refuses: func(u *Loaded) bool {
			return u.isOn("Accept") && slices.ContainsFunc(u.given["Listen"], func(g Given) bool {
				return g.Key != "ListenStream" && g.Key != "ListenSequentialPacket"
			})
		}},
	{kind: ".socket", at: "MaxConnections", partial: true, reason: "Accept=yes takes a MaxConnections= of more than 0", source: inSocket,
		refuses: func(u *Loaded) bool {
			return u.isOn("Accept") && u.has("MaxConnections") && isZeroNumber(u.value("MaxConnections"))
		}},
	{kind: ".socket", at: "Service", partial: true, reason: "Accept=yes starts a service for each connection, and goes with no Service=", source: inSocket,
		refuses: func(u *Loaded) bool { return u.isOn("Accept") && u.has("Service") }},
	{kind: ".socket", at: "Symlinks", reason: "Symlinks= takes exactly one socket in the file system", source: inSocket,
		refuses: func(u *Loaded) bool { return u.has("Symlinks") && u.has("Listen") && u.nodes() != 1 }},
	{kind: ".mount", at: "Where", partial: true, reason: "Where= does not fit the unit's name: systemd-escape --path --suffix=mount prints the name of a path's unit", source: inMount,
		refuses: func(u *Loaded) bool { return (u.known || u.has("Where")) && !u.fits("Where") }},
	{kind: ".mount", at: "Where", reason: "systemd mounts this file system itself, and takes no unit for it", source: "src/shared/mount-setup.c: mount_point_is_api",
		refuses: func(u *Loaded) bool { return u.fits("Where") && isKernels(u.mountPoint()) }},
	{kind: ".mount", at: "Where Type", reason: "the mount unit has no What=", source: inMount,
		refuses: func(u *Loaded) bool { return u.fits("Where") && !isKernels(u.mountPoint()) && !u.has("What") }},
	{kind: ".automount", at: "Where", partial: true, reason: "Where= does not fit the unit's name: systemd-escape --path --suffix=automount prints the name of a path's unit", source: "src/core/automount.c: automount_verify",
		refuses: func(u *Loaded) bool { return (u.known || u.has("Where")) && !u.fits("Where") }},
	{kind: ".swap", at: "What", partial: true, reason: "What= does not fit the unit's name: systemd-escape --path --suffix=swap prints the name of a path's unit", source: "src/core/swap.c: swap_verify",
		refuses: func(u *Loaded) bool { return (u.known || u.has("What")) && !u.fits("What") }},
	{kind: ".timer", at: "Unit", reason: "the timer has no time that systemd reads: give OnCalendar= or another On...Sec=", source: "src/core/timer.c: timer_verify",
		refuses: func(u *Loaded) bool { return !u.has("On") && !u.isOn("OnClockChange") && !u.isOn("OnTimezoneChange") }},
	{kind: ".path", at: "Unit", reason: "the path unit has no setting such as PathExists= with a path that systemd reads", source: "src/core/path.c: path_verify",
		refuses: func(u *Loaded) bool { return !u.has("Watch") }},
}

// oneshot reports whether a service is certainly of that type.
func (u *Loaded) oneshot() bool {
	return u.has("Type") && u.value("Type") == "oneshot" || u.known && u.isOneshot()
}

// nodes is the number of sockets in the file system.
func (u *Loaded) nodes() (n int) {
	for _, g := range u.given["Listen"] {
		if v := expand(u.name, g.Value); strings.HasPrefix(v, "/") && g.Key != "ListenMessageQueue" && g.Key != "ListenSpecial" && g.Key != "ListenUSBFunction" {
			n++
		}
	}
	return n
}

func (u *Loaded) mountPoint() string {
	if u.has("Where") {
		return path.Clean(u.value("Where"))
	}
	return "/" + unitText(strings.TrimSuffix(u.name, u.kind))
}

// kernels are the mount points of the kernel's file systems (src/shared/mount-setup.c, mount_table).
var kernels = strings.Fields("/proc /sys /dev /dev/pts /dev/shm /run /run/lock /sys/firmware/efi/efivars /sys/fs/bpf /sys/fs/cgroup /sys/fs/pstore /sys/fs/smackfs " +
	"/sys/kernel/security /proc/sys /proc/kmsg /proc/sys/kernel/random/boot_id /dev/console /sys/fs/selinux")

func isKernels(name string) bool {
	return has(kernels, name) || strings.HasPrefix(name, "/sys/fs/cgroup/")
}
