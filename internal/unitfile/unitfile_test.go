package unitfile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	read "github.com/slipway-dev/slipway/test/unitfile"
)

func TestFile(t *testing.T) {
	got := string(unitfile.File(
		unitfile.Section("Unit"),
		unitfile.Comment("Why."),
		unitfile.Set("After", "a.target "+unitfile.Quote("b%.service")),
		unitfile.Section("Service"),
		unitfile.Assign("Environment", "A", `a "b" 100% $x \`),
		unitfile.Line{},
		unitfile.Command("ExecStart", "/bin/x", unitfile.Braced("A"), unitfile.Variable("B"), unitfile.Word("c d")),
	))
	const want = "[Unit]\n# Why.\nAfter=a.target b%%.service\n\n[Service]\nEnvironment=\"A=a \\\"b\\\" 100%% $x \\\\\"\n\n" +
		"ExecStart=/bin/x \\\n    ${A} \\\n    $B \\\n    \"c d\"\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// systemd reads each word unchanged, whatever is in it.
func FuzzWord(f *testing.F) {
	for _, seed := range []string{"", "a", "a b", `"`, `\`, "%n", "$x", "${x}", "'", "a;b", "é", "#"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if strings.ToValidUTF8(value, "") != value || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' }) {
			t.Skip("the reader does not know the escapes of control characters")
		}
		unit := unitfile.File(unitfile.Section("Service"), unitfile.Command("ExecStart", "/bin/x", unitfile.Word(value)))
		argv, _, err := read.Command(resource.Plan{Resources: []resource.Resource{{Spec: &resource.File{Path: resource.UnitDir + "/a.service", Content: unit}}}}, "a.service")
		if err != nil || !slices.Equal(argv, []string{"/bin/x", value}) {
			t.Errorf("%q is read as %q, %v in\n%s", value, argv, err, unit)
		}
	})
}
