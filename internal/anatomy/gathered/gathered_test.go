package gathered

import (
	"encoding/json"
	"strings"
	"testing"
)

const secret = "abcdef.0123456789abcdef"

// A reduced document has the lines that matter, and no secret.
func TestReduce(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"/var/log/cloud-init.log", "a - x.py[DEBUG]: start: a/b: c\nother line\nb - x.py[DEBUG]: Running command ['/x', '--token=" + secret + "']\n",
			"a - x.py[DEBUG]: start: a/b: c\nb - x.py[DEBUG]: Running command ['/x', '--token=[redacted]']\n"},
		{"/var/lib/waagent/custom-script/download/1/stdout", "+ source /opt/azure/containers/a.sh\n+ TLS_BOOTSTRAP_TOKEN=" + secret + "\n", "+ source /opt/azure/containers/a.sh\n"},
		{"/var/lib/waagent/custom-script/download/1/stdout", `{"ExitCode":"0"}`, `{"ExitCode":"0"}`},
		{"/var/log/waagent.log", "all of it\n", "all of it\n"},
	} {
		if got := Reduce(c.name, []byte(c.text)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzReduce(f *testing.F) {
	f.Add("/var/log/cloud-init.log", []byte("start: a\nb\n"))
	f.Add("stderr", []byte("\x00/opt/azure/containers/ --token="+secret))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if got := Reduce(name, append(data, " --token="+secret...)); strings.Contains(got, secret) {
			t.Errorf("the secret is kept: %q", got)
		}
	})
}

func FuzzParse(f *testing.F) {
	good, err := json.Marshal(Set{APIVersion: APIVersion, Kind: Kind, Documents: []Document{{"a", "b"}}, Missing: []Missing{{"c", "d"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"apiVersion":"slipway.dev/v2","kind":"BootDocuments"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := Parse(data); err == nil && (s.Kind != Kind || s.APIVersion != APIVersion) {
			t.Errorf("%q is read as a set", data)
		}
	})
}
