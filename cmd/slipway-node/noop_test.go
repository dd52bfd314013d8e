package main

import (
	"github.com/slipway-dev/slipway/test/detector"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// changing are system calls that change files; those with a question mark do not exist on every machine.
const changing = "openat,?open,?creat,?openat2,write,pwrite64,writev,?rename,?renameat,renameat2,?unlink,unlinkat,?mkdir,mkdirat,?rmdir," +
	"?chmod,fchmod,fchmodat,?fchmodat2,?chown,fchown,?lchown,fchownat,?symlink,symlinkat,?link,linkat,?mknod,mknodat,fsync,fdatasync,sync," +
	"syncfs,sync_file_range,truncate,ftruncate,fallocate,utimensat,setxattr,fsetxattr,removexattr"

var (
	// reading is an openat that changes nothing.
	reading = regexp.MustCompile(`\bopen(at2?)?\(.*O_RDONLY`)
	creates = regexp.MustCompile(`O_CREAT|O_TRUNC|O_WRONLY|O_RDWR|O_TMPFILE`)
)

// traced runs the program under strace, and returns the calls that change something below a directory.
func traced(t *testing.T, root string, args ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	named, trace := filepath.Join(dir, program), filepath.Join(dir, "trace")
	if err := os.Symlink(self, named); err != nil { // under this name the test binary is the program
		t.Fatal(err)
	}
	cmd := exec.Command("strace", append([]string{"-f", "-y", "-o", trace, "-e", "trace=" + changing, named, "--log-level", "debug"}, args...)...)
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	content, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for line := range strings.Lines(string(content)) {
		if strings.Contains(line, "resumed>") {
			continue // the end of a call whose beginning is sufficient
		}
		if strings.Contains(line, root) && (!reading.MatchString(line) || creates.MatchString(line)) {
			calls = append(calls, strings.TrimSpace(line))
		}
	}
	return calls
}

// On a node without drift no command writes, renames, removes or syncs anything: only the lock is opened for writing,
// and a command that only reads does not even do that.
func TestNothingToDoIsNothing(t *testing.T) {
	detector.Skip(t)
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("there is no strace")
	}
	if out, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace: %v: %s", err, out)
	}
	for _, example := range []string{"aks/azure-cni.json", "native/full.yaml"} {
		root := filepath.Join(t.TempDir(), "node")
		contract, facts := "../../examples/"+example, "../../examples/facts/ubuntu.json"
		first := traced(t, root, "provision", "--root", root, "--provision-config", contract, "--facts", facts)
		if text := strings.Join(first, "\n"); len(first) < 200 || !strings.Contains(text, "renameat") || !strings.Contains(text, "fsync") || !strings.Contains(text, "write(") {
			t.Fatalf("%s: %d calls change something at first", example, len(first))
		}
		for _, c := range []struct {
			locks bool
			args  []string
		}{
			{true, []string{"apply", "-f", contract, "--facts", facts}},
			{true, []string{"apply", "-f", contract, "--facts", facts, "--try", "1m"}},
			{true, []string{"provision", "--provision-config", contract, "--facts", facts}},
			{true, []string{"rollback", "1"}},
			{false, []string{"apply", "-f", contract, "--facts", facts, "--dry-run"}},
			{false, []string{"rollback", "1", "--dry-run"}},
			{false, []string{"status", "--generations"}},
			{false, []string{"status", "--drift"}},
			{false, []string{"status"}},
		} {
			calls := traced(t, root, append(c.args, "--root", root)...)
			if c.locks && len(calls) == 1 && strings.Contains(calls[0], `"lock", O_`) {
				continue
			}
			if len(calls) > 0 || c.locks {
				t.Errorf("%s: %s: %s", example, c.args[0], strings.Join(calls, "\n"))
			}
		}
	}
}
