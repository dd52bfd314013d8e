package integrity

import "strings"

// assignment is a line that gives a key a value.
type assignment struct{ key, value string }

// settings are the assignments of a text with one a line, as in systemd's units, sysctl.d and files of variables. A line that ends in a
// backslash goes on (systemd.syntax(7)); a line without an equals sign is a key without a value.
func settings(text string) []assignment {
	var all []assignment
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' || line[0] == '[' {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		all = append(all, assignment{strings.TrimSpace(key), strings.TrimSpace(value)})
	}
	return all
}

// parameter is the name of a kernel parameter with dots (sysctl.d(5): if the first separator is a slash, dots are part of names). A
// line with a dash in front may fail.
func parameter(key string) string {
	key = strings.TrimPrefix(key, "-")
	if at := strings.IndexAny(key, "/."); at >= 0 && key[at] == '/' {
		return strings.NewReplacer("/", ".", ".", "/").Replace(key)
	}
	return key
}

// module is the name of a kernel module as the kernel has it (modprobe(8): dashes and underscores are the same).
func module(name string) string { return strings.ReplaceAll(name, "-", "_") }
