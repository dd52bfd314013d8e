package scenario

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// withoutAgent are kernel arguments for a machine on which Slipway does not run, and withoutCloudInit for one on which cloud-init
// does not run.
const (
	withoutAgent     = " systemd.mask=slipway-provision.service systemd.mask=slipway-provision.path"
	withoutCloudInit = " cloud-init=disabled"
)

// delivery is a way to give a machine a contract, or what is made of it.
type delivery struct {
	// userData makes the machine's user data from the contract's file. If nil, the machine has none.
	userData func(r *caseRun, ctx context.Context, m lab.Machine, contract string) ([]byte, error)
	// metadata means that only the cloud's metadata service has the user data.
	metadata bool
	// disk writes to the tree of a copy of the image what the machine must find there. If nil, nothing is written.
	disk func(r *caseRun, ctx context.Context, m lab.Machine, root, contract string) error
	// kernelArgs are further kernel arguments.
	kernelArgs string
}

// deliveries are the ways, by name.
var deliveries = map[string]delivery{
	// The custom data of "slipway render", with which cloud-init writes the contract and starts the agent.
	"custom-data": {userData: rendered("custom-data")},
	// The script of "slipway render", for an image that has AKS's scripts and no agent.
	"cse-script": {userData: rendered("cse-script"), kernelArgs: withoutAgent},
	// The contract of a launch template, which is made from the case's objects.
	"launch": {userData: (*caseRun).launched},
	// The contract itself, unchanged.
	"contract": {userData: (*caseRun).bare},
	// The contract itself, which only the metadata service has: the machine has no settings disk.
	"metadata": {userData: (*caseRun).bare, metadata: true},
	// A script that cloud-init's last stage runs, and that makes the node as AKS's scripts do.
	"script": {userData: (*caseRun).script, kernelArgs: withoutAgent},
	// The node itself, for an image without Slipway.
	"agentless": {userData: (*caseRun).agentless, disk: (*caseRun).withoutSlipway},
	// The same, which Ignition writes before the machine starts for the first time.
	"ignition": {disk: (*caseRun).ignition, kernelArgs: withoutCloudInit},
	// The first cloud-config of AKS's programs: cloud-init writes the contract, and AKS's unit, which the case's files contain,
	// then runs the agent.
	"cloud-config": {userData: (*caseRun).cloudConfig, kernelArgs: withoutAgent},
	// The contract is in the image.
	"disk": {disk: (*caseRun).bakeContract},
	// There is no delivery.
	"nothing": {disk: func(*caseRun, context.Context, lab.Machine, string, string) error { return nil }},
	// A command line of "kubeadm join", for an image of which Slipway has made nothing. A step of the case runs it.
	"kubeadm": {disk: (*caseRun).bakeJoin, kernelArgs: withoutAgent},
	// The node's files are in the image, and its units are enabled: nothing remains to be done at boot.
	"files": {disk: (*caseRun).bakeNode, kernelArgs: withoutAgent},
}

// delivered prepares a machine's delivery of a contract, and returns the machine with what the delivery needs.
func (r *caseRun) delivered(ctx context.Context, args bootArgs, m lab.Machine, guest *lab.Guest, contract string) (lab.Machine, error) {
	way, known := deliveries[cmp.Or(args.Deliver, "custom-data")]
	if !known {
		return m, fmt.Errorf("there is no delivery %q: want one of %s", args.Deliver, strings.Join(slices.Sorted(maps.Keys(deliveries)), ", "))
	}
	m.KernelArgs += way.kernelArgs
	if way.userData != nil {
		data, err := way.userData(r, ctx, m, contract)
		if err != nil {
			return m, err
		}
		if way.metadata {
			guest.Metadata = data
		} else {
			guest.UserData = data
		}
	}
	if m.Continue || way.disk == nil && args.Files == "" && args.Without == nil && !r.bringsPrograms() { // another machine has left its disk
		return m, nil
	}
	return r.furnished(ctx, m, args.Files, func(root string) error {
		if err := takeOut(root, args.Without); err != nil || way.disk == nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, "etc", "hostname"), []byte(guest.Name+"\n"), 0o644); err != nil {
			return err
		}
		return way.disk(r, ctx, m, root, contract)
	})
}

// furnished returns a machine with a separate disk that has the files of a folder of the case, and what more writes there.
func (r *caseRun) furnished(ctx context.Context, m lab.Machine, files string, more func(root string) error) (lab.Machine, error) {
	image := m.Disk
	m.Disk = filepath.Join(m.Dir, "baked.img")
	if err := lab.CopyDisk(ctx, image, m.Disk); err != nil {
		return m, err
	}
	return m, lab.WithDisk(m.Disk, func(root string) error {
		if err := r.addFiles(ctx, root, files); err != nil {
			return err
		}
		for name, path := range guestPrograms {
			if !slices.Contains(r.Programs, name) {
				continue
			}
			if err := copyProgram(r.Lab.Parts.Programs[name], filepath.Join(root, path)); err != nil {
				return err
			}
		}
		if slices.Contains(r.Programs, lab.ECRProvider) { // its machines trust AWS's registry
			if err := os.WriteFile(filepath.Join(root, "etc", "ssl", "certs", "e2e-aws-ca.pem"), r.Lab.AWSPKI.CA, 0o644); err != nil {
				return err
			}
		}
		return more(root)
	})
}

// guestPrograms are the programs of a case that run in its machines, with their paths in distributions' and clouds' images.
var guestPrograms = map[string]string{
	lab.Authenticator:  "/usr/bin/aws-iam-authenticator",
	lab.ECRProvider:    "/etc/eks/image-credential-provider/ecr-credential-provider",
	lab.Kubeadm:        "/usr/bin/kubeadm",
	parts.PauseArchive: "/etc/eks/pause.tar",
	parts.Packages:     "/var/cache/packages.tar",
	parts.Slipway:      "/usr/bin/slipway",
}

// bringsPrograms reports whether the case has a program that runs in its machines.
func (r *caseRun) bringsPrograms() bool {
	return slices.ContainsFunc(r.Programs, func(name string) bool { return guestPrograms[name] != "" })
}

func copyProgram(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}

// takeOut removes components from an image, and from its manifest.
func takeOut(root string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	path := filepath.Join(root, components.Path)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	manifest, err := components.Parse(data)
	if err != nil {
		return err
	}
	for _, name := range names {
		i := slices.IndexFunc(manifest.Components, func(c components.Component) bool { return c.Name == name })
		if i < 0 {
			return fmt.Errorf("the image has no component %q", name)
		}
		if err := os.Remove(filepath.Join(root, manifest.Components[i].Path)); err != nil {
			return err
		}
		manifest.Components = slices.Delete(manifest.Components, i, i+1)
	}
	if data, err = json.MarshalIndent(manifest, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// addFiles copies the files of a folder of the case into a tree, and replaces existing ones. "" means no folder.
func (r *caseRun) addFiles(ctx context.Context, root, folder string) error {
	if folder == "" {
		return nil
	}
	from := filepath.Join(r.Dir, folder)
	if out, err := exec.CommandContext(ctx, "cp", "-r", "--no-target-directory", "--remove-destination", from, root).CombinedOutput(); err != nil {
		return fmt.Errorf("put the files of %s into the image: %w: %s", from, err, out)
	}
	return nil
}

// rendered renders the contract for a target, as a provisioner would.
func rendered(target string) func(*caseRun, context.Context, lab.Machine, string) ([]byte, error) {
	return func(r *caseRun, ctx context.Context, _ lab.Machine, contract string) ([]byte, error) {
		output, err := r.slipway(ctx, "render", "-f", contract, "--to", target)
		if err != nil {
			return nil, err
		}
		return base64.StdEncoding.DecodeString(strings.TrimSpace(string(output)))
	}
}

func (r *caseRun) bare(_ context.Context, _ lab.Machine, contract string) ([]byte, error) {
	return os.ReadFile(contract)
}

// cloudConfig is the contract in the custom data that the README of AKS's aks-node-controller describes, byte for byte (AgentBaker,
// aks-node-controller/README.md, "Provisioning Flow").
func (r *caseRun) cloudConfig(_ context.Context, _ lab.Machine, contract string) ([]byte, error) {
	content, err := os.ReadFile(contract)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `#cloud-config
write_files:
- path: %s
  permissions: "0755"
  owner: root
  content: !!binary |
   %s`, contractPath, base64.StdEncoding.EncodeToString(content)), nil
}

// bakeContract writes the contract to the path where user data would write it.
func (r *caseRun) bakeContract(_ context.Context, _ lab.Machine, root, contract string) error {
	content, err := os.ReadFile(contract)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, contractPath), content, 0o600)
}

// joinPath is where an image without a node of Slipway's has its command line of "kubeadm join".
const joinPath = "/etc/kubeadm/join"

// bakeJoin removes what Slipway has made of the image, and writes the command line.
func (r *caseRun) bakeJoin(ctx context.Context, _ lab.Machine, root, contract string) error {
	if err := r.reset(ctx, root); err != nil {
		return err
	}
	content, err := os.ReadFile(contract)
	if err != nil {
		return err
	}
	path := filepath.Join(root, joinPath)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
