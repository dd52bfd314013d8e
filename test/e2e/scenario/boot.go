package scenario

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// bootArgs are a contract, how it gets to the machine, and what it is filled in with.
type bootArgs struct {
	// Contract is a file beside case.yaml.
	Contract string `yaml:"contract"`
}

// boot renders the contract as a provisioner would, and starts a machine with it.
func (r *caseRun) boot(ctx context.Context, args bootArgs) error {
	contract, err := r.fill(args.Contract)
	if err != nil {
		return err
	}
	r.contract = contract
	var stderr bytes.Buffer
	render := exec.CommandContext(ctx, r.Slipway, "render", "-f", contract, "--to", "custom-data")
	render.Stderr = &stderr
	customData, err := render.Output()
	if err != nil {
		return fmt.Errorf("slipway render: %w: %s", err, stderr.String())
	}
	m := lab.Machine{Dir: filepath.Join(r.Lab.Dir(), "vm-"+r.Name), Disk: filepath.Join(r.Images[r.Containerd], "disk.img")}
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return err
	}
	m, err = r.Lab.Azure(ctx, m, r.Name, strings.TrimSpace(string(customData)))
	if err != nil {
		return err
	}
	r.node = watchNode(ctx, r.Lab.API, r.Name)
	r.vm, err = r.Lab.Boot(ctx, m)
	return err
}

// fill copies a contract of the case to the output directory, with what only this run knows.
func (r *caseRun) fill(name string) (string, error) {
	template, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		return "", err
	}
	filled := strings.NewReplacer(
		"@CA@", base64.StdEncoding.EncodeToString(r.Lab.PKI.CA),
		"@SERVER@", lab.HostAddress,
		"@TOKEN@", r.Lab.Token,
		"@NAME@", r.Name,
	).Replace(string(template))
	path := filepath.Join(r.out, name)
	return path, os.WriteFile(path, []byte(filled), 0o600)
}
