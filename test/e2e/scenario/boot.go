package scenario

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// contractArgs say which contract a machine is given.
type contractArgs struct {
	// Contract is a file beside case.yaml; without it, it is the one that all cases share.
	Contract string `yaml:"contract"`
	// Change is laid over it: maps are merged, null takes a field out, all else replaces what is there.
	Change map[string]any `yaml:"change"`
}

// nodeName is the machine's host name, and so the Node's. One machine runs at a time.
const nodeName = "node"

// bootArgs are a contract, and how the machine is started with it.
type bootArgs struct {
	contractArgs `yaml:",inline"`
	// Cloud is whose machine it is, "azure" (default) or "ec2".
	Cloud string `yaml:"cloud"`
	// Baked has the contract on the disk already, as in an image that holds one, and cloud-init off.
	Baked bool `yaml:"baked"`
	// Record keeps all that the machine writes to its disk.
	Record bool `yaml:"record"`
}

// boot renders the contract as a provisioner would, and starts a machine with it.
func (r *caseRun) boot(ctx context.Context, args bootArgs) error {
	contract, err := r.fill(ctx, args.contractArgs)
	if err != nil {
		return err
	}
	m := r.machine()
	if args.Baked {
		m, err = r.baked(ctx, m, contract)
	} else {
		m, err = r.withUserData(ctx, m, args.Cloud, contract)
	}
	if err != nil {
		return err
	}
	m.Record = args.Record
	if m.Record {
		go r.watchLog(ctx, m.BlockLogPath())
	}
	r.node = watchNode(ctx, r.Lab.API, "")
	r.vm, err = r.Lab.Boot(ctx, m)
	return err
}

// withUserData makes a machine one that a cloud was given the contract for.
func (r *caseRun) withUserData(ctx context.Context, m lab.Machine, cloud, contract string) (lab.Machine, error) {
	var stderr bytes.Buffer
	render := exec.CommandContext(ctx, r.Slipway, "render", "-f", contract, "--to", "custom-data")
	render.Stderr = &stderr
	output, err := render.Output()
	if err != nil {
		return m, fmt.Errorf("slipway render: %w: %s", err, stderr.String())
	}
	userData := strings.TrimSpace(string(output))
	switch cloud {
	case "", "azure":
		return r.Lab.Azure(ctx, m, nodeName, userData)
	case "ec2":
		return r.Lab.EC2(m, nodeName, userData)
	}
	return m, fmt.Errorf("there is no cloud %q: want azure or ec2", cloud)
}

// baked makes a machine one whose disk holds all that cloud-init would bring.
func (r *caseRun) baked(ctx context.Context, m lab.Machine, contract string) (lab.Machine, error) {
	content, err := os.ReadFile(contract)
	if err != nil {
		return m, err
	}
	image := m.Disk
	m.Disk = filepath.Join(m.Dir, "baked.img")
	m.KernelArgs = "cloud-init=disabled"
	if err := lab.CopyDisk(ctx, image, m.Disk); err != nil {
		return m, err
	}
	err = lab.WriteDisk(ctx, m.Disk, map[string][]byte{
		contractPath:    content,
		"/etc/hostname": []byte(nodeName + "\n"),
	})
	if err != nil {
		return m, err
	}
	return r.Lab.Azure(ctx, m, nodeName, "")
}

// machine is the case's machine, without its cloud.
func (r *caseRun) machine() lab.Machine {
	return lab.Machine{Dir: filepath.Join(r.Lab.Dir(), "vm-"+r.Name), Disk: filepath.Join(r.Images[r.Containerd], "disk.img")}
}

// resume goes on with a machine that has booted already and that cloud-init is done with, delivers the
// contract as it is, usable or not, and starts the agent.
func (r *caseRun) resume(ctx context.Context, args contractArgs) error {
	contract, err := r.fill(ctx, args)
	if err != nil {
		return err
	}
	m, err := r.booted(ctx, r.machine())
	if err != nil {
		return fmt.Errorf("make the machine that cases share: %w", err)
	}
	r.node = watchNode(ctx, r.Lab.API, "")
	if r.vm, err = r.Lab.Boot(ctx, m); err != nil {
		return err
	}
	if err := r.deliver(ctx, contract); err != nil {
		return err
	}
	_, err = r.vm.Shell.Output(ctx, "touch "+releasePath+" && systemctl start --no-block slipway-provision.service")
	return err
}

// deliverContract puts a contract where cloud-init would put it, and does nothing else.
func (r *caseRun) deliverContract(ctx context.Context, args contractArgs) error {
	contract, err := r.fill(ctx, args)
	if err != nil {
		return err
	}
	return r.deliver(ctx, contract)
}

// contractPath is where AKS's custom data puts the contract.
const contractPath = "/opt/azure/containers/aks-node-controller-config.json"

// deliver puts a contract where cloud-init would put it.
func (r *caseRun) deliver(ctx context.Context, contract string) error {
	content, err := os.ReadFile(contract)
	if err != nil {
		return err
	}
	return r.vm.Shell.WriteFile(ctx, contractPath, content)
}

// apply delivers a contract to the running machine and runs the agent again, which must succeed.
func (r *caseRun) apply(ctx context.Context, args contractArgs) error {
	contract, err := r.fill(ctx, args)
	if err != nil {
		return err
	}
	if err := r.deliver(ctx, contract); err != nil {
		return err
	}
	_, err = r.vm.Shell.Output(ctx, "/opt/slipway/bin/slipway-node provision")
	return err
}

// changeArgs are a contract, and how "slipway-node apply" is called with it.
type changeArgs struct {
	contractArgs `yaml:",inline"`
	// Flags are added to the command line.
	Flags []string `yaml:"flags"`
	// Code is what it must end with, and Output are texts that it must print.
	Code   int      `yaml:"code"`
	Output []string `yaml:"output"`
}

// changeNode has "slipway-node apply" change the running machine to a contract, which is put beside the
// one that it was made with.
func (r *caseRun) changeNode(ctx context.Context, args changeArgs) error {
	contract, err := r.fill(ctx, args.contractArgs)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(contract)
	if err != nil {
		return err
	}
	const path = "/root/contract.json"
	if err := r.vm.Shell.WriteFile(ctx, path, content); err != nil {
		return err
	}
	line := strings.Join(append([]string{"/opt/slipway/bin/slipway-node apply -f " + path}, args.Flags...), " ")
	return r.guest(ctx, guestArgs{Run: line, Code: args.Code, Output: args.Output})
}

// rebootArgs are none yet.
type rebootArgs struct{}

// reboot restarts the machine in good order, and waits until it has a shell again.
func (r *caseRun) reboot(ctx context.Context, _ rebootArgs) error {
	before, err := r.bootID(ctx)
	if err != nil {
		return err
	}
	if _, err := r.vm.Shell.Output(ctx, "systemctl --no-block reboot"); err != nil {
		return err
	}
	r.vm.Shell.Expect()
	if err := r.vm.Shell.Wait(ctx, r.vm.Healthy); err != nil {
		return err
	}
	after, err := r.bootID(ctx)
	if err != nil {
		return err
	}
	if before == after {
		return errors.New("the machine has a shell, but has not rebooted")
	}
	r.node.stop()
	r.node = watchNode(ctx, r.Lab.API, after)
	return nil
}

// bootID is the kernel's name of the machine's present boot.
func (r *caseRun) bootID(ctx context.Context) (string, error) {
	id, err := r.vm.Shell.Output(ctx, "cat /proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(id), err
}

// fill copies a contract of the case to the output directory, with what only this run knows:
//
//	@CA@       the cluster's certificate authority, in base64
//	@CA_PEM@   the same as PEM, in the escapes of a JSON string
//	@OTHER_CA@ another one, of the same name
//	@SERVER@   the API server's address
//	@NOBODY@   an address of the same network that nobody has
//	@TOKEN@    a bootstrap token
//	@EXPIRED@  one that has expired
func (r *caseRun) fill(ctx context.Context, args contractArgs) (string, error) {
	name := args.Contract
	if name == "" {
		name = filepath.Join("..", "contract.json")
	}
	template, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		return "", err
	}
	if args.Change != nil {
		if template, err = change(template, args.Change); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	values := map[string]func() (string, error){
		"@CA@": func() (string, error) { return base64.StdEncoding.EncodeToString(r.Lab.PKI.CA), nil },
		"@CA_PEM@": func() (string, error) {
			return strings.Trim(strconv.Quote(string(r.Lab.PKI.CA)), `"`), nil
		},
		"@OTHER_CA@": r.otherAuthority,
		"@SERVER@":   func() (string, error) { return lab.HostAddress, nil },
		"@NOBODY@":   func() (string, error) { return lab.NobodysAddress, nil },
		"@TOKEN@":    func() (string, error) { return r.Lab.Token, nil },
		"@EXPIRED@":  func() (string, error) { return r.expiredToken(ctx) },
	}
	filled := string(template)
	for placeholder, value := range values {
		if !strings.Contains(filled, placeholder) {
			continue
		}
		text, err := value()
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", name, placeholder, err)
		}
		filled = strings.ReplaceAll(filled, placeholder, text)
	}
	r.contracts++
	path := r.contractPath()
	return path, os.WriteFile(path, []byte(filled), 0o600)
}

// contractPath is where the last contract that the machine was given is kept.
func (r *caseRun) contractPath() string {
	return filepath.Join(r.out, fmt.Sprintf("contract-%d.json", r.contracts))
}

// change lays a change over a document.
func change(document []byte, with map[string]any) ([]byte, error) {
	var base map[string]any
	if err := json.Unmarshal(document, &base); err != nil {
		return nil, err
	}
	return json.MarshalIndent(merge(base, with), "", "  ")
}

func merge(base, change map[string]any) map[string]any {
	merged := maps.Clone(base)
	if merged == nil {
		merged = make(map[string]any)
	}
	for name, value := range change {
		below, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(merged, name)
		case isMap:
			there, _ := merged[name].(map[string]any)
			merged[name] = merge(there, below)
		default:
			merged[name] = value
		}
	}
	return merged
}

func (r *caseRun) otherAuthority() (string, error) {
	other, err := lab.NewPKI(filepath.Join(r.Lab.Dir(), "other-pki-"+r.Name), "e2e-ca")
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(other.CA), nil
}

func (r *caseRun) expiredToken(ctx context.Context) (string, error) {
	token := lab.NewToken()
	return token, r.Lab.API.MakeToken(ctx, token, time.Now().Add(-time.Hour))
}
