//go:build crosscheck

package kubelet

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// field is a field of a struct of the kubelet's configuration, or a flag.
type field struct {
	name, kind string
	// sets is the field that a flag sets. Empty means none.
	sets         string
	since, until int
}

func (f field) in(minor int) bool { return f.since <= minor && minor <= f.until }

// table is internal/kubeletapi's names for a minor, so that a field that is new there is tried here.
type table struct {
	structs map[string][]field
	gates   []string
	flags   []field
}

// readTable reads the table of internal/kubeletapi.
func readTable(t *testing.T, minor int) *table {
	data, err := os.ReadFile("../../internal/kubeletapi/table.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := &table{structs: make(map[string][]field)}
	section, seen := "", ""
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) == 1 && strings.HasPrefix(words[0], "[") {
			section = words[0]
			continue
		}
		last := words[len(words)-1]
		f := field{since: 0, until: 1 << 10}
		if from, to, ok := strings.Cut(last, "-"); ok && strings.Trim(last, "0123456789-") == "" && len(words) > 1 {
			f.since, _ = strconv.Atoi(from)
			if n, err := strconv.Atoi(to); err == nil {
				f.until = n
			}
			words = words[:len(words)-1]
		}
		if !f.in(minor) {
			continue
		}
		switch section {
		case "[fields]":
			f.name, f.kind = words[1], words[2]
			all.structs[words[0]] = append(all.structs[words[0]], f)
		case "[gates]":
			if words[0] != seen {
				seen = words[0]
				all.gates = append(all.gates, seen)
			}
		case "[flags]":
			f.name, f.kind = words[0], words[1]
			if len(words) > 2 {
				f.sets = words[2]
			}
			all.flags = append(all.flags, f)
		}
	}
	if len(all.structs["KubeletConfiguration"]) < 100 || len(all.flags) < 80 || len(all.gates) < 50 {
		t.Fatalf("table.txt: %d fields, %d flags, %d gates of 1.%d", len(all.structs["KubeletConfiguration"]), len(all.flags), len(all.gates), minor)
	}
	return all
}

// paths are the fields of a struct that have a value and no fields below them, with dots between the names.
func (t *table) paths(owner, prefix string) []field {
	var list []field
	for _, f := range t.structs[owner] {
		f.name = prefix + f.name
		if inner, ok := strings.CutPrefix(f.kind, "."); ok {
			list = append(list, t.paths(inner, f.name+".")...)
			continue
		}
		list = append(list, f)
	}
	return list
}
