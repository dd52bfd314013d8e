package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCasesThatGoOn(t *testing.T) {
	for name, tt := range map[string]struct {
		// cases are the texts of case.yaml, by the cases' names.
		cases map[string]string
		names []string
		// want is the order, with a star after those that leave their machine to the next.
		want, err string
	}{
		"all":                {map[string]string{"a": "", "b": "after: d", "c": "", "d": ""}, nil, "a c d* b", ""},
		"a chain":            {map[string]string{"a": "after: b", "b": "after: c", "c": ""}, nil, "c* b* a", ""},
		"one that goes on":   {map[string]string{"a": "", "b": "after: a", "c": "after: b"}, []string{"b"}, "a* b", ""},
		"one that is left":   {map[string]string{"a": "", "b": "after: a"}, []string{"a"}, "a", ""},
		"named twice":        {map[string]string{"a": "", "b": "after: a"}, []string{"b", "a", "b"}, "a* b", ""},
		"after no case":      {map[string]string{"a": "after: x"}, nil, "", "case x"},
		"one machine, twice": {map[string]string{"a": "", "b": "after: a", "c": "after: a"}, nil, "", "b and c go on after a"},
		"another image":      {map[string]string{"a": "containerd: \"1.6\"", "b": "after: a"}, nil, "", "b wants containerd 2, and goes on after a, which has 1.6"},
		"none begins":        {map[string]string{"a": "after: b", "b": "after: a", "c": ""}, nil, "", "none begins"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for c, text := range tt.cases {
				if err := os.Mkdir(filepath.Join(dir, c), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, c, "case.yaml"), []byte("about: x\n"+text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cases, err := Load(dir, tt.names...)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%v, want an error with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var order []string
			for _, c := range cases {
				if c.Continued {
					c.Name += "*"
				}
				order = append(order, c.Name)
			}
			if have := strings.Join(order, " "); have != tt.want {
				t.Errorf("the order is %q, want %q", have, tt.want)
			}
		})
	}
}
