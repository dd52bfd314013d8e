package host

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

const (
	// maxParameter limits a kernel parameter: a page, with space to spare.
	maxParameter = 64 << 10
	// maxBuiltin limits the kernel's list of built-in modules, which has some ten kilobytes.
	maxBuiltin = 4 << 20
)

// Sysctl returns a kernel parameter, fields separated by single spaces. If the kernel does not have it, the error is
// fs.ErrNotExist.
func (m *Machine) Sysctl(key string) (string, error) {
	name, err := sysctlPath(key)
	if err != nil {
		return "", err
	}
	content, err := m.ReadFile(name, maxParameter)
	if err != nil {
		return "", fmt.Errorf("sysctl %s: %w", key, err)
	}
	return fields(string(content)), nil
}

// SetSysctl sets a kernel parameter until the next boot.
func (m *Machine) SetSysctl(key, value string) error {
	name, err := sysctlPath(key)
	if err != nil {
		return err
	}
	set := failpoint.Change{Kind: failpoint.Sysctl, Name: key, To: fields(value)}
	if err := failpoint.Pass(set, func() error { return m.Overwrite(name, fields(value)+"\n") }); err != nil {
		return fmt.Errorf("sysctl %s: %w", key, rootfs.Failed(fmt.Sprintf("set to %q at", fields(value)), name, err))
	}
	return nil
}

// sysctlPath returns the file of a kernel parameter. A name is written "net.ipv4.ip_forward" or "net/ipv4/ip_forward".
// The other of the two characters, swapped, is part of a name: the interface eth0.100 is
// "net.ipv4.conf.eth0/100.forwarding" or "net/ipv4/conf/eth0.100/forwarding".
func sysctlPath(key string) (string, error) {
	name := key
	if first := strings.IndexAny(key, "./"); first >= 0 && key[first] == '.' {
		name = strings.NewReplacer(".", "/", "/", ".").Replace(key)
	}
	full := "/proc/sys/" + name
	if name == "" || rootfs.CheckPath(full) != nil || !strings.HasPrefix(path.Clean(full), "/proc/sys/") {
		return "", fmt.Errorf("sysctl %q: is not the name of a kernel parameter: %w", key, fs.ErrInvalid)
	}
	return full, nil
}

// fields separates what white space separates by single spaces.
func fields(value string) string { return strings.Join(strings.Fields(value), " ") }

// ModuleLoaded reports whether a kernel module is loaded or built in.
func (m *Machine) ModuleLoaded(module string) (bool, error) {
	name, err := moduleName(module)
	if err != nil {
		return false, err
	}
	entry, err := m.Stat("/sys/module/" + name)
	if err != nil {
		return false, fmt.Errorf("module %s: %w", module, err)
	}
	if entry.Kind != apply.Absent {
		return true, nil
	}
	// Only this list has the built-in modules without parameters.
	release, err := m.ReadFile("/proc/sys/kernel/osrelease", maxParameter)
	if err != nil {
		return false, fmt.Errorf("module %s: %w", module, err)
	}
	list, err := m.ReadFile("/lib/modules/"+fields(string(release))+"/modules.builtin", maxBuiltin)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("module %s: %w", module, err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		builtin := strings.TrimSuffix(path.Base(lines.Text()), ".ko")
		if strings.ReplaceAll(builtin, "-", "_") == name {
			return true, nil
		}
	}
	return false, nil
}

// LoadModule loads a kernel module and its dependencies with modprobe: the kernel itself knows neither the modules'
// files nor their dependencies.
func (m *Machine) LoadModule(ctx context.Context, module string) error {
	if _, err := moduleName(module); err != nil {
		return err
	}
	var output []byte
	err := failpoint.Pass(failpoint.Change{Kind: failpoint.Module, Name: module}, func() (err error) {
		output, err = m.Run(ctx, &resource.Command{Label: "modprobe " + module, Argv: []string{"modprobe", "--", module}})
		return err
	})
	if err != nil {
		if said := fields(string(output)); said != "" {
			return fmt.Errorf("load module %s: %w: %s", module, err, said)
		}
		return fmt.Errorf("load module %s: %w", module, err)
	}
	return nil
}

// moduleName returns the name by which the kernel knows a module.
func moduleName(module string) (string, error) {
	if module == "" || strings.Trim(module, "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "", fmt.Errorf("module %q: is not the name of a kernel module: %w", module, fs.ErrInvalid)
	}
	return strings.ReplaceAll(module, "-", "_"), nil
}
