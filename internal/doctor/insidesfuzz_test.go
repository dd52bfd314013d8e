package doctor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/doctor"
)

// Lines of a journal are whatever a program has written. What is taken from them is a part of them.
func FuzzJournal(f *testing.F) {
	for _, line := range []string{
		klogged("failed to parse kubelet flag: unknown flag: --x"), "E1128 x] y err=\"cut \\", "W9999 ] ", "err=", " err=\"\\q\"",
		"a.service: Job b.service/start deleted to break ordering cycle starting with a.service/start", "Unable to break cycle starting with a.service/start",
		`{"waiting":"a contract"}`, `{"waiting":1}`, "Job  deleted to break ordering cycle",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if unit := doctor.LeftOut(line); !strings.Contains(line, unit) || strings.ContainsAny(unit, " \t") {
			t.Errorf("%q is not a unit of %q", unit, line)
		}
		if text := doctor.Refusal([]string{"", line}); len(text) > len(line)*4 {
			t.Errorf("%q of %q", text, line)
		}
		doctor.AwaitedIn([]string{line})
	})
}

// Anything can be in the directory of network configurations.
func FuzzNetworkConfig(f *testing.F) {
	for _, text := range []string{
		`{"name":"x","type":"bridge","ipam":{"type":"host-local"}}`, `{"plugins":[{"type":"a"},{"type":"b","ipam":{"type":"azure-cns"}}]}`,
		`{"plugins":[{}]}`, `{}`, `[]`, `null`, `{"type":["x"]}`, `{"plugins":[{"plugins":[{"type":"x"}]}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		programs, err := doctor.ParseNetworkConfig(content)
		if err != nil && programs != nil || err == nil && len(programs) == 0 || slices.Contains(programs, "") {
			t.Errorf("%q, %v", programs, err)
		}
	})
}

func FuzzMounts(f *testing.F) {
	f.Add("1 0 8:1 / / rw shared:1 - ext4 /dev/vda1 rw\n")
	f.Add(" - \n\\040 - \\04")
	f.Fuzz(func(t *testing.T, content string) {
		if n := doctor.ParseMounts(content); n > strings.Count(content, "\n")+1 {
			t.Errorf("%d mounts of %q", n, content)
		}
		doctor.DisablesCRI([]byte(content))
	})
}
