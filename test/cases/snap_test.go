package cases

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// snapStub stores the settings of a snap as files, and records its arguments.
const snapStub = `#!/bin/bash
printf '%q ' snap "$@" >>"$STUB/calls"
echo >>"$STUB/calls"
case $1 in
get) cat "$STUB/settings/$3" 2>/dev/null ;;
set) for setting in "${@:3}"; do echo "${setting#*=}" >"$STUB/settings/${setting%%=*}"; done ;;
esac
`

// On Ubuntu the kubelet is a snap. Its flags are set before it starts, at each boot, and only those that differ: the second boot
// here has another address, the third is like the second.
func TestSnapOverBoots(t *testing.T) {
	const dir = "eksctl-ubuntu"
	var c spec
	readJSON(t, filepath.Join(dir, "case.json"), &c)
	root, stub := t.TempDir(), t.TempDir()
	c.prepare(t, root)
	if first := provision(t, root, c.facts(t)); first.ExitCode != 0 {
		t.Fatalf("exit code %d", first.ExitCode)
	}
	for _, at := range []string{"bin", "settings"} {
		if err := os.Mkdir(filepath.Join(stub, at), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(stub, "bin/snap"), []byte(snapStub), 0o755); err != nil {
		t.Fatal(err)
	}
	dropIn := string(read(t, filepath.Join(root, "etc/systemd/system/kubelet.service.d/10-eksctl.ubuntu.conf")))
	for _, address := range []string{"10.0.0.5", "10.0.0.6", "10.0.0.6"} {
		boot := "# a boot with the address " + address + "\n"
		calls, err := os.OpenFile(filepath.Join(stub, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = calls.WriteString(boot)
		}
		if err != nil || calls.Close() != nil {
			t.Fatal(err)
		}
		variables := make(map[string]string)
		for _, file := range []string{"etc/eksctl/metadata.env", "etc/eksctl/kubelet.env", "run/slipway/node.env"} {
			for line := range strings.Lines(string(read(t, filepath.Join(root, file)))) {
				name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
				variables[name] = value
			}
		}
		variables["NODE_IP"] = address
		_, line, _ := strings.Cut(strings.ReplaceAll(dropIn, " \\\n", ""), "ExecStart=\nExecStart=")
		var argv []string
		for _, word := range strings.Fields(line) { // no word has a blank in it here
			argv = append(argv, os.Expand(strings.Trim(word, `"`), func(name string) string { return variables[name] }))
		}
		argv[1] = filepath.Join(root, argv[1])
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = []string{"PATH=" + stub + "/bin:/usr/bin:/bin", "STUB=" + stub}
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	}
	golden(t, dir, "want.snap", read(t, filepath.Join(stub, "calls")))
}
