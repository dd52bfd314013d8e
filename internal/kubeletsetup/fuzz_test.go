package kubeletsetup

import (
	"strings"
	"testing"
)

// FuzzKubeconfig: what is read has a server, and no error repeats the token.
func FuzzKubeconfig(f *testing.F) {
	f.Add("current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: https://a, certificate-authority-data: YQ==}}]\nusers: [{name: u, user: {token: t, exec: {command: x, args: [a], env: [{name: A, value: b}]}}}]\n")
	f.Add(`{"current-context":"c"}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseKubeconfig([]byte(text))
		if (a == nil) == (err == nil) || a != nil && a.Server == "" {
			t.Errorf("got %v, %v", a, err)
		}
		if a != nil {
			_ = a.Kind()
		}
	})
}

// FuzzFlag: a command line has a flag only if one of its words has the flag's name.
func FuzzFlag(f *testing.F) {
	f.Add("kubelet\x00--config=/a\x00--hostname_override\x00b\x00", "hostname-override")
	f.Fuzz(func(t *testing.T, line, name string) {
		s := Service{Words: split([]byte(line))}
		if _, has := s.Flag(name); has && !strings.Contains(strings.ReplaceAll(line, "_", "-"), "--"+name) {
			t.Errorf("%q has --%s", line, name)
		}
	})
}
