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

// module is the name of a kernel module as the kernel has it (modprobe(8): dashes and underscores are the same).
func module(name string) string { return strings.ReplaceAll(name, "-", "_") }
