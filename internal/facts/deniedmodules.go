package facts

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// ModprobeDir is where an administrator, or the author of an image, configures the loading of modules (modprobe.d(5)).
const ModprobeDir = "/etc/modprobe.d"

// FixedRule begins a line there that denied a module until the machine had a safe kernel.
const FixedRule = "# fixed in this kernel: "

// The limits for reading it. An image that follows a hardening guide has some ten files with thirty modules.
const (
	maxModprobeFiles = 64
	maxModprobeFile  = 64 << 10
	maxDeniedModules = 256
)

// deniedModules are the modules that the files of ModprobeDir deny, sorted.
func (g gatherer) deniedModules() []string {
	names, err := g.ReadDir(ModprobeDir)
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(name string) bool { return path.Ext(name) != ".conf" })
	var denied []string
	for _, name := range names[:min(len(names), maxModprobeFiles)] {
		content, err := g.ReadFile(ModprobeDir+"/"+name, maxModprobeFile)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(content)) {
			if module := Denies(line); module != "" {
				denied = append(denied, module)
			}
		}
	}
	slices.Sort(denied)
	denied = slices.Compact(denied)
	return denied[:min(len(denied), maxDeniedModules)]
}

// Denies returns the module that a line of a file of modprobe denies or denied before, in the kernel's spelling, or "".
func Denies(line string) string {
	words := strings.Fields(strings.TrimPrefix(line, FixedRule))
	denies := len(words) == 2 && words[0] == "blacklist" ||
		len(words) == 3 && words[0] == "install" && (path.Base(words[2]) == "false" || path.Base(words[2]) == "true")
	if !denies || len(words[1]) > maxLabel || !utf8.ValidString(words[1]) {
		return ""
	}
	return strings.ReplaceAll(words[1], "-", "_")
}
