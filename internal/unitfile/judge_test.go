package unitfile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/unitfile"
)

// judged are units with their faults: "!" if systemd refuses the unit, file and line, and a part of the reason. The
// files after the first are drop-ins; "image" as the first file means that it is unknown. make crosscheck compares many
// more with systemd itself.
var judged = []struct {
	unit  string
	files []string
	want  []string
}{
	// The service as a whole.
	{"a.service", []string{"[Service]\nExecStart=/bin/x\n"}, nil},
	{"a.service", []string{"[Service]\nExecStart=/bin/x\nExecStart=/bin/y\n"}, []string{"!0:3: second ExecStart="}},
	{"a.service", []string{"[Service]\nExecStart=/bin/x\n", "[Service]\nExecStart=/bin/y\n"}, []string{"!1:2: second ExecStart="}},
	{"a.service", []string{"[Service]\nExecStart=/bin/x\n", "[Service]\nExecStart=\nExecStart=/bin/y\n"}, nil},
	{"a.service", []string{"[Service]\nType=oneshot\nExecStart=/bin/x\nExecStart=/bin/y\n"}, nil},
	{"a.service", []string{"[Service]\nExecStart=/bin/x ; /bin/y\n"}, []string{"!0:2: second ExecStart="}},
	{"a.service", []string{"image", "[Service]\nType=notify\nExecStart=\nExecStart=/bin/x\nExecStart=/bin/y\n"}, []string{"!1:5: second ExecStart="}},
	{"a.service", []string{"image", "[Service]\nExecStart=/bin/x\n"}, []string{"1:2: adds an ExecStart= to that of the image's unit"}},
	{"a.service", []string{"image", "[Service]\nExecStart=\nExecStart=/bin/x\n"}, nil},
	{"a.service", []string{"image", "[Service]\nExecStart=\n"}, nil},
	{"a.service", []string{"[Unit]\nDescription=x\n"}, []string{"!?:0: no ExecStart="}},
	{"a.service", []string{"[Service]\nType=simple\nExecStop=/bin/x\n"}, []string{"!0:2: no ExecStart=, which only Type=oneshot"}},
	{"a.service", []string{"[Service]\nExecStop=/bin/x\n"}, []string{"!0:2: takes RemainAfterExit=yes"}},
	{"a.service", []string{"[Service]\nExecStop=/bin/x\nRemainAfterExit=yes\n"}, nil},
	{"a.service", []string{"[Service]\nType=oneshot\nRestart=always\nExecStart=/bin/x\n"}, []string{"!0:3: Restart=always"}},
	{"a.service", []string{"[Service]\nType=dbus\nBusName=a\nExecStart=/bin/x\n"}, []string{"0:3: no name on D-Bus", "!0:2: takes BusName="}},

	// Commands, and other values that systemd refuses.
	{"a.service", []string{"[Service]\nExecStart=bin/x\n"}, []string{"!0:2: neither an absolute path nor a plain name"}},
	{"a.service", []string{"[Service]\nExecStart=-bin/x\n"}, []string{"0:2: neither an absolute path", "!?:0: no ExecStart="}},
	{"a.service", []string{"[Service]\nExecStart=/bin/x \"a\n"}, []string{"!0:2: quote that is not closed"}},
	{"a.service", []string{"[Service]\nExecStart=/bin/x\\q\n"}, []string{"!0:2: backslashes"}},
	{"a.service", []string{"[Service]\nExecStart=/bin/x \\q %z 'a \"b' \\\n  c\n"}, nil},
	{"a.service", []string{"[Service]\nExecStart=@/bin/x\n"}, []string{"!0:2: no name for the program"}},
	{"a.service", []string{"[Service]\nExecStart=/bin/x\nUser=a:b\nWorkingDirectory=a\nDynamicUser=maybe\n"}, []string{"!0:3: no name or number of a user"}},
	{"a.service", []string{"[Service]\nExecStart=/bin/x\n", "[Service]\nUser=a:b\nExecStart=/bin/y\n"}, []string{"1:2: does not read the rest of this drop-in"}},
	{"a.service", []string{"[Service\nExecStart=/bin/x\n"}, []string{"!0:1: head of a section"}},
	{"a.service", []string{"[Service]\nExecStart=/bin/x\n", "[Service]\nExecStart=\n[Ser\nExecStart=/bin/y\n"}, []string{"1:3: does not read the rest", "!?:0: no ExecStart="}},

	// Settings that are only ignored.
	{"a.service", []string{"A=b\n[Service]\nExecStart=/bin/x\nfoo\nType=bogus\nRestartSec=soon\n"}, []string{"0:1: in no section", "0:4: no setting", "0:5: not one of simple", "0:6: no time"}},
	{"a.service", []string{"[Service]\nExecStart=/bin/x\nRestartSecs=1\nAfter=a.service\n[service]\nX-Own=1\n[X-Own]\na=b\n"},
		[]string{"0:5: did you mean Service", "0:3: did you mean RestartSec?", "0:4: belongs into [Unit]"}},

	// Units of other kinds.
	{"mnt-a.mount", []string{"[Mount]\nWhat=/dev/x\nWhere=/mnt/a/\n"}, nil},
	{"mnt-a.mount", []string{"[Mount]\nWhat=/dev/x\nWhere=/mnt/b\n"}, []string{"!0:3: Where= does not fit"}},
	{"mnt-a-b.mount", []string{"[Mount]\nWhat=/dev/x\nWhere=/mnt/a-b\n"}, []string{"!0:3: Where= does not fit"}},
	{`mnt-a\x2db.mount`, []string{"[Mount]\nWhat=/dev/x\nWhere=/mnt/a-b\n"}, nil},
	{"mnt-a.mount", []string{"image", "[Mount]\nWhere=/mnt/b\n"}, []string{"!1:2: Where= does not fit"}},
	{"mnt-a.mount", []string{"[Mount]\nWhere=/mnt/a\n"}, []string{"!0:2: no What="}},
	{"dev-shm.mount", []string{"[Mount]\nWhat=tmpfs\n"}, []string{"!?:0: systemd mounts this"}},
	{"mnt-a.automount", []string{"[Automount]\nWhere=/mnt/b\n"}, []string{"!0:2: Where= does not fit"}},
	{"dev-sdb.swap", []string{"[Swap]\nWhat=/dev/sdc\n"}, []string{"!0:2: What= does not fit"}},
	{"a.socket", []string{"[Socket]\nListenStream=localhost:80\n"}, []string{"0:2: no address", "!?:0: no setting such as ListenStream="}},
	{"a.socket", []string{"[Socket]\nListenDatagram=80\nAccept=yes\n"}, []string{"!0:3: accept connections"}},
	{"a.timer", []string{"[Timer]\nOnCalendar=every day\n"}, []string{"0:2: systemd-analyze calendar", "!?:0: no time that systemd reads"}},
	{"a.timer", []string{"[Timer]\nOnCalendar=Mon..Fri *-*-* 02:30\nOnBootSec=5min\n"}, nil},
	{"a.path", []string{"[Path]\nPathExists=a\n"}, []string{"0:2: no absolute path", "!?:0: no setting such as PathExists="}},
	{"a.target", []string{"[Unit]\nDescription=x\n"}, nil},
}

func TestJudgeUnitsLikeSystemd(t *testing.T) {
	for _, c := range judged {
		var file *unitfile.Source
		var dropIns []unitfile.Source
		for i, content := range c.files {
			source := unitfile.Source{Path: fmt.Sprint(i), Content: content}
			switch {
			case i > 0:
				dropIns = append(dropIns, source)
			case content != "image":
				file = &source
			}
		}
		got := unitfile.Judge(c.unit, file, dropIns)
		matches := slices.EqualFunc(got, c.want, func(f unitfile.Fault, want string) bool {
			where, reason, _ := strings.Cut(strings.TrimPrefix(want, "!"), ": ")
			if f.Path == "" {
				f.Path = "?"
			}
			return f.Refused == strings.HasPrefix(want, "!") && where == fmt.Sprintf("%s:%d", f.Path, f.Line) && strings.Contains(f.Reason, reason)
		})
		if !matches {
			t.Errorf("%s %q:\ngot  %+v\nwant %q", c.unit, c.files, got, c.want)
		}
	}
}

func TestNameUnitsOfPathsLikeSystemd(t *testing.T) {
	for path, want := range map[string]string{
		"/": "-", "/a/b": "a-b", "//a//b/": "a-b", "/a-b": `a\x2db`, "/.a": `\x2ea`, "/a.b": "a.b", "/a b": `a\x20b`, "/é": `\xc3\xa9`, "/a/./b": "a-b",
	} {
		if got := unitfile.PathName(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// No text makes the reader panic, and every fault has a line of the file.
func FuzzJudge(f *testing.F) {
	for _, c := range judged {
		f.Add(c.unit, c.files[0], c.files[len(c.files)-1])
	}
	f.Fuzz(func(t *testing.T, unit, file, dropIn string) {
		for _, fault := range unitfile.Judge(unit, &unitfile.Source{Path: "0", Content: file}, []unitfile.Source{{Path: "1", Content: dropIn}}) {
			content := map[string]string{"0": file, "1": dropIn}[fault.Path]
			if fault.Line > 1+strings.Count(content, "\n") || fault.Reason == "" {
				t.Errorf("%q: %+v", content, fault)
			}
		}
	})
}
