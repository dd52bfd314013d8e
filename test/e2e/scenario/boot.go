package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

// firstName is the host name of a case's first machine.
const firstName = "node"

// bootArgs are a contract, and how a machine is started with it.
type bootArgs struct {
	contractArgs `yaml:",inline"`
	// Cloud is the machine's cloud: "azure" (default) or another name that lab.In knows.
	Cloud string `yaml:"cloud"`
	// CloudInit is whether cloud-init runs; default true.
	CloudInit *bool `yaml:"cloudInit"`
	// Deliver is how the machine gets the contract, a name in the table of deliveries; default "custom-data".
	Deliver string `yaml:"deliver"`
	// Files is a folder beside case.yaml whose files are added to the machine's copy of the image. Empty means no files.
	Files string `yaml:"files"`
	// Without are components that are removed from the machine's copy of the image, by their names in its manifest.
	Without []string `yaml:"without"`
	// Tags are the tags that the machine's owner has set, by name.
	Tags tags `yaml:"tags"`
	// Down is how long after the machine's start the cloud's services refuse connections.
	Down Boots `yaml:"down"`
	// Second gives the machine a second network interface that its cloud knows.
	Second bool `yaml:"second"`
	// Accelerated gives the machine accelerated networking.
	Accelerated bool `yaml:"accelerated"`
	// Address is the machine's address, if it is not the default one.
	Address string `yaml:"address"`
	// Temporary gives the machine an empty temporary disk.
	Temporary bool `yaml:"temporary"`
	// Record records all that the machine writes to its disk.
	Record bool `yaml:"record"`
}

// boot starts a new machine with the contract.
func (r *caseRun) boot(ctx context.Context, args bootArgs) error {
	return r.start(ctx, args, r.machine(), lab.Guest{Name: firstName, Number: 1})
}

// start starts a machine that its cloud knows, with the contract.
func (r *caseRun) start(ctx context.Context, args bootArgs, m lab.Machine, guest lab.Guest) error {
	contract, err := r.fill(ctx, args.contractArgs)
	if err != nil {
		return err
	}
	if guest.Tags, err = r.tagged(ctx, args.Tags); err != nil {
		return err
	}
	if err := r.Lab.SetAddress(ctx, cmp.Or(args.Address, lab.NodeAddress)); err != nil {
		return err
	}
	if err := r.nameserver(ctx, nameserverArgs{Address: lab.HostAddress}); err != nil {
		return err
	}
	if args.CloudInit != nil && !*args.CloudInit {
		m.KernelArgs += withoutCloudInit
	}
	m.Second, m.Accelerated = args.Second, args.Accelerated
	if args.Temporary {
		if m.Temporary, err = r.temporaryDisk(ctx, m); err != nil {
			return err
		}
	}
	if m, err = r.delivered(ctx, args, m, &guest, contract); err != nil {
		return err
	}
	if m, err = r.Lab.In(ctx, cmp.Or(args.Cloud, "azure"), m, guest); err != nil {
		return err
	}
	if m.Record = args.Record; m.Record {
		go r.watchLog(ctx, m.BlockLogPath())
	}
	if args.Down > 0 {
		if err := r.Lab.CloudDown(ctx, r.Pace.Of(args.Down)); err != nil {
			return err
		}
	}
	r.node = watchNode(ctx, r.Lab.API, newNode(r.names))
	r.vm, err = r.Lab.Boot(ctx, m)
	return err
}

// temporarySize is the size of a machine's temporary disk.
const temporarySize = 256 << 20

// temporaryDisk makes an empty disk for a machine, as a cloud does, also if it moves the machine to another host.
func (r *caseRun) temporaryDisk(ctx context.Context, m lab.Machine) (string, error) {
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(m.Dir, "temporary.img")
	if err := os.RemoveAll(path); err != nil {
		return "", err
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return "", err
	}
	if err := os.Truncate(path, temporarySize); err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, "mkfs.ext4", "-q", path).CombinedOutput(); err != nil {
		return "", fmt.Errorf("make the temporary disk: %w: %s", err, out)
	}
	return path, nil
}

// launchMemory is the memory of a machine that a template launches, in MiB: AKS accepts no size with less.
const launchMemory = 3584

// image is the case's image.
func (r *caseRun) image() Image { return r.Images[r.Image().Name()] }

// machine is the case's machine, without its cloud.
func (r *caseRun) machine() lab.Machine {
	image := r.image()
	m := image.Machine(filepath.Join(r.dir, "vm"))
	if r.Format != "" {
		m.Disk, m.Format = parts.Disk(image.Dir, r.Format), parts.Formats[r.Format]
		switch {
		case r.SecureBoot:
			m.UEFI, m.UEFIVariables = parts.SecureFirmware, parts.SecureVariables
		case !r.WithoutFirmware:
			m.UEFI = parts.Firmware
		}
	}
	if r.Kind == "launch" {
		m.MemoryMiB = launchMemory
	}
	return m
}

// resume continues a machine that has booted already and finished cloud-init, delivers the contract unchanged, usable or not, and
// starts the agent.
func (r *caseRun) resume(ctx context.Context, args contractArgs) error {
	contract, err := r.fill(ctx, args)
	if err != nil {
		return err
	}
	m, err := r.booted(ctx, r.machine())
	if err != nil {
		return fmt.Errorf("make the machine that cases share: %w", err)
	}
	r.node = watchNode(ctx, r.Lab.API, newNode(r.names))
	if r.vm, err = r.Lab.Boot(ctx, m); err != nil {
		return err
	}
	if err := r.shell(ctx); err != nil {
		return err
	}
	if _, err := r.vm.Shell.Output(ctx, "rm "+heldPath); err != nil {
		return err
	}
	if err := r.deliver(ctx, contract); err != nil {
		return err
	}
	_, err = r.vm.Shell.Output(ctx, "systemctl start --no-block slipway-provision.service")
	return err
}

// deliverContract writes a contract to cloud-init's path, and does nothing else.
func (r *caseRun) deliverContract(ctx context.Context, args contractArgs) error {
	contract, err := r.fill(ctx, args)
	if err != nil {
		return err
	}
	return r.deliver(ctx, contract)
}

// changeUserData replaces the contract in the running machine's metadata service, and does nothing to the machine.
func (r *caseRun) changeUserData(ctx context.Context, args contractArgs) error {
	contract, err := r.fill(ctx, args)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(contract)
	if err != nil {
		return err
	}
	r.Lab.Cloud.SetUserData(content)
	return nil
}

type consoleArgs struct {
	// Text is what the console must say.
	Text string `yaml:"text"`
}

// console waits until the machine's console has a text.
func (r *caseRun) console(ctx context.Context, args consoleArgs) error {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	if err := r.vm.AwaitConsole(ctx, args.Text); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return nil
}

type nameserverArgs struct {
	// Address is the address of the network's DNS server.
	Address string `yaml:"address"`
}

// nameserver makes the network name another DNS server in its next DHCP answer, and does nothing to the machine.
func (r *caseRun) nameserver(_ context.Context, args nameserverArgs) error {
	return r.Lab.SetNameserver(args.Address)
}

// tags are a machine's tags, by name. Values have the placeholders of contracts.
type tags map[string]string

// changeTags replaces all tags of the running machine, and does nothing to the machine.
func (r *caseRun) changeTags(ctx context.Context, with tags) error {
	list, err := r.tagged(ctx, with)
	if err != nil {
		return err
	}
	r.Lab.Cloud.SetTags(list...)
	return nil
}

// tagged converts tags for the fake cloud.
func (r *caseRun) tagged(ctx context.Context, with tags) ([]fakecloud.Tag, error) {
	var list []fakecloud.Tag
	for _, name := range slices.Sorted(maps.Keys(with)) {
		value, err := r.filled(ctx, "tag "+name, with[name])
		if err != nil {
			return nil, err
		}
		list = append(list, fakecloud.Tag{Name: name, Value: value})
	}
	return list, nil
}

// contractPath is the contract's path in AKS's custom data.
const contractPath = "/opt/azure/containers/aks-node-controller-config.json"

// deliver writes a contract to cloud-init's path.
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

// changeArgs are a contract, and the arguments of "slipway-node apply".
type changeArgs struct {
	contractArgs `yaml:",inline"`
	// Flags are added to the command line.
	Flags []string `yaml:"flags"`
	// Code is the required exit code, and Output are texts that the command must print.
	Code   int      `yaml:"code"`
	Output []string `yaml:"output"`
}

// changeNode has "slipway-node apply" change the running machine to a contract, which is a second file beside the first one.
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

type rebootArgs struct {
	// Moved has the cloud move the machine to another host meanwhile: it gets a new temporary disk.
	Moved bool `yaml:"moved"`
	// Address gives the machine another address meanwhile.
	Address string `yaml:"address"`
	// Cut cuts the power instead of shutting the machine down.
	Cut bool `yaml:"cut"`
}

// reboot restarts the machine, and waits until it has a shell again.
func (r *caseRun) reboot(ctx context.Context, args rebootArgs) error {
	before, err := r.bootID(ctx)
	if err != nil {
		return err
	}
	if args.Cut {
		r.vm.Stop()
	} else if _, err := r.vm.Shell.Output(ctx, "systemctl --no-block reboot"); err != nil {
		return err
	} else if err := r.vm.Ended(ctx); err != nil {
		return err
	}
	if args.Address != "" {
		if err := r.Lab.SetAddress(ctx, args.Address); err != nil {
			return err
		}
	}
	if args.Moved {
		if _, err := r.temporaryDisk(ctx, r.vm.Machine); err != nil {
			return err
		}
	}
	if r.vm, err = r.Lab.Again(ctx, r.vm); err != nil {
		return err
	}
	r.lastBoot = nil
	if err := r.shell(ctx); err != nil {
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
	r.node = watchNode(ctx, r.Lab.API, bootedNode(after))
	return nil
}

// shell waits until the machine has a shell, and measures by that how fast the machine is.
func (r *caseRun) shell(ctx context.Context) error {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	if err := r.vm.Shell.Wait(ctx, r.vm.Healthy); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	r.Pace.Started(r.vm.Kind(), r.vm.Shell.Spoke().Sub(r.vm.Started))
	return nil
}

// bootID is the kernel's ID of the machine's present boot.
func (r *caseRun) bootID(ctx context.Context) (string, error) {
	id, err := r.vm.Shell.Output(ctx, "cat /proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(id), err
}
