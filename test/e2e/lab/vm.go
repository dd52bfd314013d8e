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
	"syscall"
	"time"
)

// Machine describes a virtual machine.
type Machine struct {
	// Dir is the directory of its disk, sockets and console log.
	Dir string
	// Disk is the image with which its disk starts; the image is not written to. Format is its format for QEMU. Empty means raw.
	Disk, Format string
	// UEFI is the path of the firmware that boots the disk. Empty means that QEMU loads Kernel itself.
	// UEFIVariables is the file of the firmware's variables, of which the machine gets a copy. Empty means that the firmware keeps none.
	UEFI, UEFIVariables string
	Kernel              Kernel
	// Seed is a disk with a cloud's settings. It may be empty.
	Seed string
	// Resume is a disk with a machine that Save has saved, and that continues from there. Disk and Seed must be the saved
	// machine's. The disk is not written to.
	Resume string
	// Held is a kernel that Hold has saved, and that continues with this machine's disk.
	Held string
	// Continue makes the machine use the disk that the last one with the same Dir has left.
	Continue bool
	// Record records all that the machine writes to its disk, in a block log.
	Record bool
	// Place is its place in the network ([Places]) if other machines run already. The first is 0.
	Place int
	// Second gives it a second network interface.
	Second bool
	// Accelerated gives it a hardware interface, as machines of a cloud with accelerated networking have, and as many processors as
	// the smaller ones of these have.
	Accelerated bool
	// Temporary is the image of a second disk, as some sizes of a cloud's machines have. It may be empty.
	Temporary string
	// MemoryMiB is the size of its memory. 0 means 2048.
	MemoryMiB int
	// KernelArgs are further kernel arguments.
	KernelArgs string
	// Firmware are further QEMU arguments by which a guest detects its cloud.
	Firmware []string
}

// Kernel is a kernel that QEMU loads without firmware and boot loader.
type Kernel struct {
	// Image and Initrd are the paths of the kernel and of its initial RAM disk. HeldInitrd is the initial RAM disk that can wait (see
	// [Holding]).
	Image, Initrd, HeldInitrd string
	// Args are its arguments, of which one names the root file system.
	Args string
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

// ConsolePath returns the path of the machine's console log.
func (m *Machine) ConsolePath() string { return filepath.Join(m.Dir, "console.log") }

func (m *Machine) overlay() string { return filepath.Join(m.Dir, "disk.qcow2") }

// variables is the path of the copy of the firmware's variables.
func (m *Machine) variables() string { return filepath.Join(m.Dir, "variables.fd") }

// artifactsPath is the path of the output of the machine's artifacts port.
func (m *Machine) artifactsPath() string { return filepath.Join(m.Dir, "artifacts") }

// Boot starts a machine from its image, or from its saved state.
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
	if m.UEFIVariables != "" && !m.Continue {
		if err := CopyDisk(ctx, m.UEFIVariables, m.variables()); err != nil {
			return nil, err
		}
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

// Kind is where a machine starts from. All machines of a kind have the same amount of work before they have a shell.
func (m *Machine) Kind() string {
	switch {
	case m.Resume != "":
		return "saved"
	case m.Held != "":
		return "held"
	case m.UEFI != "":
		return "uefi"
	}
	return "off"
}

// makeOverlay makes the disk that a machine writes to.
func makeOverlay(ctx context.Context, m Machine) error {
	if m.Continue {
		return nil
	}
	if err := os.RemoveAll(m.overlay()); err != nil {
		return err
	}
	disk := []string{"qemu-img", "create", "-q", "-f", "qcow2", "-F", cmp.Or(m.Format, "raw"), "-b", m.Disk, m.overlay(), fmt.Sprint(DiskSize)}
	if m.Resume != "" {
		disk = []string{"cp", "--reflink=auto", "--sparse=always", m.Resume, m.overlay()}
	}
	if out, err := exec.CommandContext(ctx, disk[0], disk[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("make the machine's disk: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// DiskSize is the size of a machine's disk in bytes. It is larger than the image, as a cloud's is.
const DiskSize = 8 << 30

// emulated are kernel arguments for an emulated processor. To set a timer is expensive in the emulator, and a tick is cheap: with a
// regular tick, a node joins with a tenth less processor time. Ciphers with processor instructions are modules that test themselves
// when they are loaded, and nothing here uses them. The kernel's test of its timer counts ticks in a loop: on a busy machine there
// are too few, and the kernel panics.
const emulated = "no_timer_check nohz=off highres=off modprobe.blacklist=aesni_intel,ghash_clmulni_intel,crct10dif_pclmul,crc32_pclmul,sha1_ssse3,sha256_ssse3,sha512_ssse3"

// qemu is QEMU's command line. It always emulates: nothing depends on the machine that it runs on, except time.
func (l *Lab) qemu(m Machine) []string {
	processors := "2"
	if m.Accelerated {
		processors = "4"
	}
	kernelArgs := "console=ttyS0 mitigations=off quiet systemd.show_status=0 systemd.debug_shell=ttyS1 " + emulated + " " + m.KernelArgs
	argv := []string{
		// Until it is Ready, a machine runs 0.7 GB of translated code; with less room, QEMU translates all of it again.
		"qemu-system-x86_64", "-machine", "q35", "-accel", "tcg,thread=multi,tb-size=1024", "-smp", processors, "-m", strconv.Itoa(cmp.Or(m.MemoryMiB, 2048)),
		// With "enhanced rep movsb" a kernel clears and copies memory byte by byte, and the emulator handles each byte separately.
		"-cpu", "max,-erms,-fsrm",
		// A machine that is reset in the same process is half as fast, because its memory is full of pages with translated code.
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-blockdev", m.rootDisk(l.Disk), "-device", "virtio-blk-pci,drive=root",
		"-device", "virtio-rng-pci",
		"-netdev", "tap,id=net,ifname=" + m.tap() + ",script=no,downscript=no", "-device", "virtio-net-pci,netdev=net,romfile=,mac=" + m.mac(),
		"-serial", "file:" + m.ConsolePath(), "-serial", "unix:" + filepath.Join(m.Dir, "shell") + ",server=on,wait=off",
		"-monitor", "unix:" + filepath.Join(m.Dir, "monitor") + ",server=on,wait=off",
		"-device", "virtio-serial-pci", "-chardev", "file,id=artifacts,path=" + m.artifactsPath(),
		"-device", "virtserialport,chardev=artifacts,name=" + artifactsPort,
	}
	if m.UEFI != "" {
		// systemd's stub takes further arguments of the kernel from there (systemd-stub(7)).
		argv = append(argv, "-drive", "if=pflash,format=raw,readonly=on,file="+m.UEFI, "-smbios", "type=11,value=io.systemd.stub.kernel-cmdline-extra="+strings.ReplaceAll(kernelArgs, ",", ",,"))
		if m.UEFIVariables != "" {
			// Only the firmware's own mode may write them (OVMF: README, "SMM support").
			argv = append(argv, "-machine", "smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on", "-drive", "if=pflash,format=raw,file="+m.variables())
		}
	} else {
		k := m.Kernel
		argv = append(argv, "-kernel", k.Image, "-initrd", k.Initrd, "-append", k.Args+" "+kernelArgs)
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
		// Its driver starts with receive rings as large as those of Azure's hardware, and can have larger ones. It is connected to
		// nothing.
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

// BlockLogPath returns the path of the record of a machine's writes to its disk.
func (m *Machine) BlockLogPath() string { return filepath.Join(m.Dir, "blocks.log") }

// DiskLimits limit a machine's disk, as a cloud does. 0 means no limit.
type DiskLimits struct{ IOPS, BytesPerSecond int }

// rootDisk is the machine's disk, in QEMU's format. Flushes only go to the block log, because the machine that runs the test will
// not lose its power.
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
	document, _ := json.Marshal(disk) // a map of strings can always be encoded
	return string(document)
}

// Quit ends the machine like Stop, but only when all its writes are in the block log.
func (vm *VM) Quit(ctx context.Context) error {
	vm.monitor(ctx, "quit") // it ends without an answer
	select {
	case <-vm.process.Done():
	case <-ctx.Done():
		return fmt.Errorf("QEMU does not end: %w", ctx.Err())
	}
	vm.Stop()
	return nil
}

// Ended waits until the machine has ended by itself; a reboot also ends it.
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

// Stop cuts the machine's power.
func (vm *VM) Stop() {
	vm.Shell.Close()
	vm.process.Kill()
}

// Aborted reports whether QEMU has ended because it found a fault in itself.
func (vm *VM) Aborted() bool {
	select {
	case <-vm.process.Done():
		status, ok := vm.process.cmd.ProcessState.Sys().(syscall.WaitStatus)
		return ok && status.Signaled() && status.Signal() == syscall.SIGABRT
	default:
		return false
	}
}

// Healthy returns why a machine will not come up, or nil.
func (vm *VM) Healthy() error {
	select {
	case <-vm.process.Done():
		return fmt.Errorf("QEMU ended: %s", lastLine(vm.process.LogPath))
	default:
	}
	console, err := os.ReadFile(vm.ConsolePath())
	if err != nil {
		return nil // the log does not exist yet
	}
	for _, sign := range []string{"initrd: ", "Kernel panic"} {
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

// MachineKey differs for machines whose saved states are incompatible.
func (l *Lab) MachineKey(m Machine) string {
	// The paths of a machine's own files do not matter; the neighbours on its network do.
	key := strings.Join(append(l.qemu(m), bridgeMAC), "\x00")
	return strings.ReplaceAll(key, m.Dir, "")
}
