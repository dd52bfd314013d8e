package kubeletsetup

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Service is a program that systemd starts, as it runs, or as its unit starts it.
type Service struct {
	// PID is the running process, or 0.
	PID int
	// From is where the command line is from: the process, or the file with it. It is empty if neither is found.
	From string
	// Words are the command line. They can have secrets.
	Words []string
	// environment are its variables, which can have secrets.
	environment map[string]nodeconfig.Secret
}

const (
	// maxProcess limits a process' command line or environment (execve(2): a third of the stack, at most 6 MiB).
	maxProcess = 6 << 20
	// maxUnit limits a file of a unit.
	maxUnit = 1 << 20
	// maxName limits the kernel's name of a process, and its control groups.
	maxName = 64 << 10
)

// Flag is the last value of a flag, in the forms --name=value and --name value (github.com/spf13/pflag). An underscore
// counts as a dash (k8s.io/component-base, cli/flag, WordSepNormalizeFunc).
func (s *Service) Flag(name string) (value string, has bool) {
	for i, word := range s.Words {
		flag, isFlag := strings.CutPrefix(word, "--")
		if !isFlag || i == 0 {
			continue
		}
		given, text, joined := strings.Cut(flag, "=")
		if strings.ReplaceAll(given, "_", "-") != name {
			continue
		}
		if !joined && i+1 < len(s.Words) && !strings.HasPrefix(s.Words[i+1], "-") {
			text = s.Words[i+1]
		}
		value, has = text, true
	}
	return value, has
}

// Variable is the value of the first of some environment variables that has one.
func (s *Service) Variable(names ...string) nodeconfig.Secret {
	for _, name := range names {
		if value := s.environment[name]; !value.IsZero() {
			return value
		}
	}
	return nodeconfig.Secret{}
}

// FindService finds a service by its running process, or else by its unit.
func FindService(files Files, unit, program string) Service {
	if s, found := runningService(files, unit, program); found {
		return s
	}
	return ConfiguredService(files, unit)
}

// runningService is the process with the program's name, if possible in the unit's control group: a container can have a
// process with the same name.
func runningService(files Files, unit, program string) (s Service, found bool) {
	names, err := files.ReadDir("/proc")
	if err != nil {
		return s, false
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		at := "/proc/" + name
		comm, err := files.ReadFile(at+"/comm", maxName)
		if err != nil || strings.TrimSpace(string(comm)) != program {
			continue
		}
		line, err := files.ReadFile(at+"/cmdline", maxProcess)
		if err != nil || len(line) == 0 {
			continue // it has ended
		}
		groups, _ := files.ReadFile(at+"/cgroup", maxName)
		isUnit := bytes.Contains(groups, []byte("/"+unit+"\n"))
		if !isUnit && found && s.PID < pid {
			continue
		}
		variables, _ := files.ReadFile(at+"/environ", maxProcess) // only the superuser may read it
		s, found = Service{PID: pid, From: "process " + name, Words: split(line), environment: environmentOf(split(variables))}, true
		if isUnit {
			break
		}
	}
	return s, found
}

// split splits the texts of a file of /proc.
func split(content []byte) []string {
	return strings.Split(strings.TrimRight(string(content), "\x00"), "\x00")
}

func environmentOf(assignments []string) map[string]nodeconfig.Secret {
	all := make(map[string]nodeconfig.Secret)
	for _, assignment := range assignments {
		if name, value, ok := strings.Cut(assignment, "="); ok {
			all[name] = nodeconfig.NewSecret(value)
		}
	}
	return all
}

// ConfiguredService is a service as its unit's files start it.
func ConfiguredService(files Files, unit string) Service {
	read := func(path string) (*unitfile.Source, bool) {
		content, err := files.ReadLinked(path, maxUnit)
		return &unitfile.Source{Path: path, Content: string(content)}, err == nil
	}
	defines, paths := integrity.UnitFiles(unit, files.ReadDir)
	var file *unitfile.Source
	if defines != "" {
		if source, ok := read(defines); ok {
			file = source
		}
	}
	var dropIns []unitfile.Source
	for _, path := range paths {
		if source, ok := read(path); ok {
			dropIns = append(dropIns, *source)
		}
	}
	loaded := unitfile.Read(unit, file, dropIns)
	commands := loaded.Given("ExecStart")
	if len(commands) == 0 {
		return Service{}
	}
	assigned := loaded.Assigned(func(path string) (string, bool) {
		content, err := files.ReadLinked(path, maxUnit)
		return string(content), err == nil
	})
	variables := make([]string, len(assigned))
	for i, a := range assigned {
		variables[i] = a.Name + "=" + a.Text
	}
	from := commands[len(commands)-1].Path
	return Service{From: from, Words: loaded.CommandLine(assigned), environment: environmentOf(variables)}
}
