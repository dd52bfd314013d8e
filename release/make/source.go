// Package make makes a release from a commit.
package make

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/release/product"
)

// Source is the checkout that a release is made from.
type Source struct {
	Dir, Commit string
	Time        time.Time
	// Version is such as "v0.1.0".
	Version string
	// Modified reports whether the checkout has changes that the commit has not.
	Modified bool
}

// ReadSource finds the commit of a checkout.
func ReadSource(ctx context.Context, dir, version string) (*Source, error) {
	if !versionForm.MatchString(version) {
		return nil, fmt.Errorf("--version %q: want a version such as v0.1.0 or v0.1.1-rc.1", version)
	}
	changes, err := output(ctx, dir, nil, "git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	commit, err := output(ctx, dir, nil, "git", "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	at, err := output(ctx, dir, nil, "git", "show", "-s", "--format=%cI", "HEAD")
	if err != nil {
		return nil, err
	}
	when, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return nil, err
	}
	return &Source{Dir: dir, Commit: commit, Time: when.UTC(), Version: version, Modified: changes != ""}, nil
}

// goEnv are Go's settings. The compiler is one version, because another one makes other programs: Go downloads it if the machine has another.
var goEnv = []string{"GOTOOLCHAIN=go1.26.8", "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off"}

// build builds a program. What a clone or a machine has is not in it: the record of version control depends on the clone's tags, the path of
// the sources on the directory, cgo on the machine's C library.
func (s *Source) build(ctx context.Context, p *product.Program, on product.Platform, dir string) (string, error) {
	file := filepath.Join(dir, p.Name+"_"+on.OS+"_"+on.Architecture)
	const stamp = "github.com/slipway-dev/slipway/internal/cli."
	flags := fmt.Sprintf("-s -w -buildid= -X %[1]sVersion=%[2]s -X %[1]sRevision=%[3]s -X %[1]sTime=%[4]s", stamp, s.Version, s.Commit, s.Time.Format(time.RFC3339))
	env := append([]string{"GOOS=" + on.OS, "GOARCH=" + on.Architecture}, goEnv...)
	_, err := output(ctx, s.Dir, env, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", file, "./cmd/"+p.Name)
	return file, err
}

// output runs a program and returns what it prints.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// versionForm is a version of a release (semver.org), as a tag of Go's has it.
var versionForm = regexp.MustCompile(`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.]+)?$`)
