package plan

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// position is where a setting is: a line of a file, and the contract's path of the file's text. An empty path means that Slipway wrote
// the file.
type position struct {
	at, file string
	line     int
	// setting is the contract's setting that Slipway's file is made of, as far as there is one.
	setting string
}

// String names the position for the reader of a problem at another path of the contract.
func (p position) String() string {
	switch {
	case p.at == "":
		return p.file
	case p.line == 0:
		return problem.Setting(p.at).String()
	}
	return fmt.Sprintf("line %d of %s", p.line, problem.Setting(p.at))
}

// inLine is what a reason at a place of the contract begins with.
func (p position) inLine() string {
	if p.line == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", p.line)
}

// twice reports a setting that is in two files, at least one of them the author's. The second one counts.
func twice(out *concern.Output, what string, lost, counts position) {
	switch {
	case lost.at != "":
		out.Warn(nodeconfig.Dropped, lost.at, "%s%s is not used: %s has it with another value, and comes later; give it once", lost.inLine(), what, counts)
	case counts.at != "" && lost.setting != "":
		out.Warn(nodeconfig.Dropped, counts.at, "%s%s takes the place of %s, which is not used; give it once", counts.inLine(), what, problem.Setting(lost.setting))
	case counts.at != "":
		out.Warn(nodeconfig.Dropped, counts.at, "%s%s takes the place of Slipway's in %s, which is not used", counts.inLine(), what, lost.file)
	}
}

// contractFiles are Slipway's files that have nothing but a setting of the contract.
func contractFiles(in *concern.Input) map[string]string {
	return map[string]string{
		concern.ContainerdDropIns + in.Family.Runtime.Limits.File: "$.runtime.containerd.limits",
		in.Family.Paths.Sysctls:                                   "$.system.sysctls",
	}
}

// checkOverlays reports settings of units that two files have, if a value of the author or of Slipway has no effect.
func checkOverlays(in *concern.Input, out *concern.Output, t plannedTexts) {
	settings := contractFiles(in)
	placeOf := func(g unitfile.Given) position {
		return position{at: t.at[g.Path], file: g.Path, line: g.Line, setting: settings[g.Path]}
	}
	content := func(name string) (string, bool) {
		f := t.files[name]
		if f == nil {
			return "", false
		}
		return string(f.Content), true
	}
	for i := range in.Config.Units {
		u := &in.Config.Units[i]
		if u.Content == "" && len(u.DropIns) == 0 {
			continue
		}
		file, dropIns := unitSources(t.files, u.Name)
		loaded := unitfile.Read(u.Name, file, dropIns)
		for _, r := range loaded.Replaced() {
			lost, counts := placeOf(r.Lost), placeOf(r.By)
			isEmptied := r.By.Value == "" && lost.at != "" && counts.at != "" // the author does it on purpose
			isOverride := lost.at == "" && lost.setting == "" && r.Lost.Key != "ExecStart"
			if lost.file != counts.file && !isEmptied && !isOverride {
				twice(out, r.Lost.Key+"=", lost, counts)
			}
		}
		variables := loaded.Assigned(content)
		last := make(map[string]unitfile.Assigned)
		for _, a := range variables {
			last[a.Name] = a
		}
		for _, a := range variables {
			lost, counts := placeOf(a.Given), placeOf(last[a.Name].Given)
			if a.Text == last[a.Name].Text || lost.file == counts.file {
				continue
			}
			what := "a variable"
			if lost.at == "" || counts.at == "" {
				what = "the variable " + a.Name // Slipway's name
			}
			twice(out, what, lost, counts)
		}
	}
}

// sysctlConf is read by distributions that have a link to it among these files (Debian until 12, Ubuntu, Fedora: 99-sysctl.conf).
const sysctlConf, sysctlLink = "/etc/sysctl.conf", "99-sysctl.conf"

// checkSysctls reports kernel parameters that two files have, at least one of them of the author's. systemd-sysctl reads the files by their
// names, whatever their directories, and the last counts; a pattern counts for no parameter that is named (systemd 252,
// src/sysctl/sysctl.c).
func checkSysctls(in *concern.Input, out *concern.Output, t plannedTexts) {
	settings := contractFiles(in)
	type assignment struct {
		position
		key, value string
	}
	var all []assignment
	last := make(map[string]assignment)
	for _, name := range sysctlFiles(t, out) {
		for i, line := range strings.Split(string(t.files[name].Content), "\n") {
			key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			if key = strings.TrimSpace(key); !ok || key == "" || strings.ContainsAny(key[:1], "#;") {
				continue
			}
			key = resource.ParameterName(strings.TrimSpace(strings.TrimPrefix(key, "-")))
			a := assignment{position{at: t.at[name], file: name, line: i + 1}, key, strings.Join(strings.Fields(value), " ")}
			if _, isOwn := in.Config.System.Sysctls[key]; isOwn && settings[name] != "" {
				a.setting = document.FieldPath(settings[name], key)
			}
			all, last[key] = append(all, a), a
		}
	}
	for _, a := range all {
		lost, counts := a.position, last[a.key].position
		switch {
		case a.value == last[a.key].value, lost.file == counts.file:
		case lost.at == "" && counts.at != "":
			out.Warn(nodeconfig.Dropped, counts.at, "%sthe kernel parameter counts from the next boot on, and until then %s, which has another value; give it once", counts.inLine(), sysctlSource(lost))
		case lost.at != "" && counts.at == "":
			out.Warn(nodeconfig.Dropped, lost.at, "%sthe kernel parameter is not used: %s has it with another value, and comes later; give it once", lost.inLine(), sysctlSource(counts))
		default:
			twice(out, "the kernel parameter", lost, counts)
		}
	}
}

// sysctlSource is the setting that a parameter of Slipway's comes from, or its file.
func sysctlSource(p position) any {
	if p.setting != "" {
		return problem.Setting(p.setting)
	}
	return p.file
}

// sysctlFiles are the planned files of kernel parameters in the order in which they are read. It reports files that are not read, because
// another one has their name.
func sysctlFiles(t plannedTexts, out *concern.Output) []string {
	read := make(map[string]string) // by the file's name
	for _, dir := range resource.SysctlDirs {
		for _, name := range slices.Sorted(maps.Keys(t.files)) {
			base := path.Base(name)
			if path.Dir(name) != dir || path.Ext(base) != ".conf" || base[0] == '.' {
				continue
			}
			if first, ok := read[base]; !ok {
				read[base] = name
			} else if t.at[name] != "" {
				out.Warn(nodeconfig.Dropped, t.at[name], "is not read: %s has the same name, and comes before it", cmp.Or(problem.Setting(t.at[first]).String(), first))
			}
		}
	}
	if _, ok := t.files[sysctlConf]; ok && read[sysctlLink] == "" {
		read[sysctlLink] = sysctlConf
	}
	var all []string
	for _, base := range slices.Sorted(maps.Keys(read)) {
		all = append(all, read[base])
	}
	return all
}
