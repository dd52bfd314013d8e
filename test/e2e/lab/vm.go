package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Machine says how a virtual machine is made.
type Machine struct {
	// Dir is where its disk, sockets and console log are.
	Dir string
	// Disk is the image that its disk begins as; it is not written to.
	Disk string
	// Seed is a disk with a cloud's settings, or empty.
	Seed string
	// Resume is a disk that holds a machine saved by Save, which goes on from there; Disk and Seed must
	// be those it was saved with. It is not written to.
	Resume string
	// Held is a kernel that Hold has kept, which goes on with this machine's disk.
	Held string
	// Continue has the machine find the disk that the last one of the same Dir has left.
	Continue bool
	// Record keeps all that the machine writes to its disk, in a block log.
	Record bool
	// Place is which of the network's places it has ([Places]), where other machines run already; the first is 0.
	Place int
	// Second is whether it has a second network interface.
	Second bool
	// Accelerated is whether it has an interface of hardware, as machines of a cloud with accelerated networking do, and as many
	// processors as the smaller ones of these.
	Accelerated bool
	// Temporary is the image of a disk that it has besides its own, as some sizes of a cloud's machines do, or empty.
	Temporary string
	// MemoryMiB is how much memory it has; 0 for 2048.
	MemoryMiB int
	// KernelArgs are further arguments for the kernel.
	KernelArgs string
	// Firmware are further arguments for QEMU, by which a guest knows its cloud.
	Firmware []string
}

// TemporarySerial is the serial number of the temporary disk, by which a machine knows it.
const TemporarySerial = "temporary"

// VM is a running virtual machine.
type VM struct {
	Machine
	// Started is when QEMU was started.
	Started time.Time
	// Shell runs commands in the machine.
	Shell *Shell

	process *Process
}

// ConsolePath is where the machine's console log is.
func (m *Machine) ConsolePath() string { return filepath.Join(m.Dir, "console.log") }

func (m *Machine) overlay() string { return filepath.Join(m.Dir, "disk.qcow2") }

// artifactsPath is where what the machine writes to its artifacts port goes.
func (m *Machine) artifactsPath() string { return filepath.Join(m.Dir, "artifacts") }

// Boot starts a machine from its image, or where it was saved.
func (l *Lab) Boot(ctx context.Context, m Machine) (*VM, error) {
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return nil, err
	}
	for _, path := range []string{filepath.Join(m.Dir, "monitor"), filepath.Join(m.Dir, "shell")} {
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
	}
	if err := makeOverlay(ctx, m); err != nil {
		return nil, err
	}
	if m.Record {
		if err := os.WriteFile(m.BlockLogPath(), nil, 0o644); err != nil {
			return nil, err
		}
	}
	vm := &VM{Machine: m, Started: time.Now()}
	var err error
	if vm.process, err = l.start(ctx, "qemu", nil, l.qemu(m)...); err != nil {
		return nil, err
	}
	if vm.Shell, err = dialShell(ctx, filepath.Join(m.Dir, "shell"), vm.Healthy); err != nil {
		vm.process.Kill()
		return nil, err
	}
	switch {
	case m.Resume != "":
		err = vm.resumed(ctx)
	case m.Held != "":
		err = vm.release(ctx)
	}
	if err != nil {
		vm.Stop()
		return nil, fmt.Errorf("go on with a machine that was kept: %w", err)
	}
	return vm, nil
}

// Kind is where a machine starts from. Of each kind, all have as much to do before they have a shell.
func (m *Machine) Kind() string {
	switch {
	case m.Resume != "":
		return "saved"
	case m.Held != "":
		return "held"
	}
	return "off"
}

// makeOverlay makes what a machine writes to.
func makeOverlay(ctx context.Context, m Machine) error {
	if m.Continue {
		return nil
	}
	if err := os.RemoveAll(m.overlay()); err != nil {
		return err
	}
	disk := []string{"qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", m.Disk, m.overlay()}
	if m.Resume != "" {
		disk = []string{"cp", "--reflink=auto", "--sparse=always", m.Resume, m.overlay()}
	}
	if out, err := exec.CommandContext(ctx, disk[0], disk[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("make the machine's disk: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// emulated are arguments for a kernel whose processor is a program. To set a timer is a way out to the emulator, where
// a tick is cheap: with a regular one, a node joins with a tenth less of the processors' time. And ciphers that the
// processor has instructions for are modules that test themselves when they are loaded; nothing here uses them. The
// kernel's test of its timer counts ticks in a loop: on a busy machine there are too few, and the kernel panics.
const emulated = "no_timer_check nohz=off highres=off modprobe.blacklist=aesni_intel,ghash_clmulni_intel,crct10dif_pclmul,crc32_pclmul,sha1_ssse3,sha256_ssse3,sha512_ssse3"

// qemu is QEMU's command line. It is an emulator throughout: nothing depends on the machine that it
// runs on, but for time.
func (l *Lab) qemu(m Machine) []string {
	processors := "2"
	if m.Accelerated {
		processors = "4"
	}
	kernelArgs := "console=ttyS0 root=/dev/vda rw mitigations=off quiet systemd.show_status=0 systemd.debug_shell=ttyS1 " + emulated + " " + m.KernelArgs
	argv := []string{
		// A machine's way to Ready is 0.7 GB of translated code; where that has no room, all is translated again.
		"qemu-system-x86_64", "-machine", "q35", "-accel", "tcg,thread=multi,tb-size=1024", "-smp", processors, "-m", strconv.Itoa(cmp.Or(m.MemoryMiB, 2048)),
		// With "enhanced rep movsb" a kernel clears and copies memory by the byte, each of which the emulator does by itself.
		"-cpu", "max,-erms,-fsrm",
		// A machine that is reset in the same process is half as fast: its memory is full of pages whose code was translated.
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-kernel", filepath.Join(l.Parts.Kernel, "vmlinuz"), "-initrd", filepath.Join(l.Parts.Initrd, "initrd"), "-append", kernelArgs,
		"-blockdev", m.rootDisk(l.Disk), "-device", "virtio-blk-pci,drive=root",
		"-device", "virtio-rng-pci",
		"-netdev", "tap,id=net,ifname=" + m.tap() + ",script=no,downscript=no", "-device", "virtio-net-pci,netdev=net,romfile=,mac=" + m.mac(),
		"-serial", "file:" + m.ConsolePath(), "-serial", "unix:" + filepath.Join(m.Dir, "shell") + ",server=on,wait=off",
		"-monitor", "unix:" + filepath.Join(m.Dir, "monitor") + ",server=on,wait=off",
		"-device", "virtio-serial-pci", "-chardev", "file,id=artifacts,path=" + m.artifactsPath(),
		"-device", "virtserialport,chardev=artifacts,name=" + artifactsPort,
	}
	if m.Resume != "" {
		argv = append(argv, "-loadvm", savedName)
	}
	if m.Held != "" {
		argv = append(argv, "-incoming", "exec:cat "+m.Held)
	}
	if l.Disk != (DiskLimits{}) {
		argv = slices.Insert(argv, 1, "-object", fmt.Sprintf("throttle-group,id=limits,x-iops-total=%d,x-bps-total=%d", l.Disk.IOPS, l.Disk.BytesPerSecond))
	}
	if m.Second {
		argv = append(argv, "-netdev", "tap,id=second,ifname="+secondTap+",script=no,downscript=no", "-device", "virtio-net-pci,netdev=second,romfile=,mac="+SecondMAC)
	}
	if m.Accelerated {
		// Its driver begins with receive rings as large as those of Azure's hardware, and can have larger ones. It leads nowhere.
		argv = append(argv, "-device", "vmxnet3,romfile=,mac="+AcceleratedMAC)
	}
	if m.Temporary != "" {
		argv = append(argv, "-drive", "if=none,id=temporary,format=raw,cache=unsafe,file="+m.Temporary, "-device", "virtio-blk-pci,drive=temporary,serial="+TemporarySerial)
	}
	if m.Seed != "" {
		argv = append(argv, "-drive", "if=none,id=seed,format=raw,readonly=on,file="+m.Seed, "-device", "virtio-blk-pci,drive=seed")
	}
	return append(argv, m.Firmware...)
}

// tap and mac are those of its first interface.
func (m *Machine) tap() string { return places[m.Place].tap }

func (m *Machine) mac() string { return places[m.Place].mac }

// BlockLogPath is where what a machine writes to its disk is recorded.
func (m *Machine) BlockLogPath() string { return filepath.Join(m.Dir, "blocks.log") }

// DiskLimits are what a machine's disk can do at most, as a cloud limits it; zero is no limit.
type DiskLimits struct{ IOPS, BytesPerSecond int }

// rootDisk is the machine's disk, as QEMU describes such. Flushes go no further than to the block log:
// the test's own machine will not lose its power.
func (m *Machine) rootDisk(limits DiskLimits) string {
	unsafe := map[string]any{"no-flush": true}
	disk := map[string]any{
		"driver": "qcow2", "discard": "unmap", "cache": unsafe,
		"file": map[string]any{"driver": "file", "filename": m.overlay(), "discard": "unmap", "cache": unsafe},
	}
	if m.Record {
		disk = map[string]any{
			"driver": "blklogwrites", "log-sector-size": 512, "discard": "unmap", "file": disk,
			"log": map[string]any{"driver": "file", "filename": m.BlockLogPath(), "cache": unsafe},
		}
	}
	if limits != (DiskLimits{}) {
		disk = map[string]any{"driver": "throttle", "throttle-group": "limits", "file": disk, "discard": "unmap"}
	}
	disk["node-name"] = "root"
	document, _ := json.Marshal(disk) // maps of strings are always documents
	return string(document)
}

// Quit ends the machine as Stop does, once all that it wrote is in the block log.
func (vm *VM) Quit(ctx context.Context) error {
	vm.monitor(ctx, "quit") // it goes without an answer
	select {
	case <-vm.process.Done():
	case <-ctx.Done():
		return fmt.Errorf("QEMU does not end: %w", ctx.Err())
	}
	vm.Stop()
	return nil
}

// Ended waits until the machine has ended by itself; one that reboots does, too.
func (vm *VM) Ended(ctx context.Context) error {
	select {
	case <-vm.process.Done():
		vm.Shell.Close()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the machine does not end: %w", ctx.Err())
	}
}

// Again starts a machine that has ended from its disk, as its firmware would after a reboot.
func (l *Lab) Again(ctx context.Context, vm *VM) (*VM, error) {
	m := vm.Machine
	m.Continue, m.Resume = true, ""
	return l.Boot(ctx, m)
}

// Stop takes the machine's power away.
func (vm *VM) Stop() {
	vm.Shell.Close()
	vm.process.Kill()
}

// Healthy says what is wrong with a machine that does not come up, or nil.
func (vm *VM) Healthy() error {
	select {
	case <-vm.process.Done():
		return fmt.Errorf("QEMU ended: %s", lastLine(vm.process.LogPath))
	default:
	}
	console, err := os.ReadFile(vm.ConsolePath())
	if err != nil {
		return nil // not there yet
	}
	for _, sign := range []string{"e2e: no root", "Kernel panic"} {
		if strings.Contains(string(console), sign) {
			return errors.New("the console says " + sign)
		}
	}
	return nil
}

func lastLine(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return lines[len(lines)-1]
}

// MachineKey differs for machines whose saved states do not fit each other.
func (l *Lab) MachineKey(m Machine) string {
	// The paths of a machine's own files make no difference; whom it has met on its network does.
	key := strings.Join(append(l.qemu(m), bridgeMAC), "\x00")
	return strings.ReplaceAll(key, m.Dir, "")
}
