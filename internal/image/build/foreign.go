package build

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// processor is an architecture that images are built for.
type processor struct {
	machine elf.Machine
	// ends are the instructions by which a program calls exit(0).
	ends []byte
}

var processors = map[string]processor{
	"amd64": {elf.EM_X86_64, []byte{
		0xb8, 0x3c, 0, 0, 0, // mov eax, 60
		0x31, 0xff, // xor edi, edi
		0x0f, 0x05, // syscall
	}},
	"arm64": {elf.EM_AARCH64, []byte{
		0xa8, 0x0b, 0x80, 0xd2, // mov x8, 93
		0x00, 0x00, 0x80, 0xd2, // mov x0, 0
		0x01, 0x00, 0x00, 0xd4, // svc 0
	}},
}

// CheckRuns refuses an architecture whose programs this machine does not run: the packages' scripts, the agent and the container runtime run
// in the image while it is built. mkosi would say so after minutes, with the error of a package.
func CheckRuns(ctx context.Context, architecture string) error {
	if architecture == runtime.GOARCH {
		return nil
	}
	err := processors[architecture].run(ctx)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() >= notRun:
		return fmt.Errorf("a build runs programs of the image, and this machine of %s runs none of %s in the image's tree: "+
			"let QEMU run them, with the flag F of binfmt_misc (apt-get install qemu-user-static), or build on a machine of %[2]s", runtime.GOARCH, architecture)
	case exit != nil && os.Geteuid() != 0:
		return fmt.Errorf("%w: an ordinary user builds in a user namespace: let the kernel make one (user_namespaces(7)), or build as root", err)
	}
	return err
}

// notRun is the first exit code of unshare that means that the program did not run: 126 or 127. Its text does not say why: the C library
// takes a program that the kernel does not know for a script, and finds no shell in the tree.
const notRun = 126

// run runs a program in a tree that has nothing else. An emulator that the kernel opens when a program starts is not in the tree of an image
// either, so the kernel must have opened it before (binfmt_misc's flag F).
func (p processor) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "slipway-")
	if err != nil {
		return err
	}
	err = os.WriteFile(filepath.Join(dir, "program"), p.program(), 0o755)
	if err == nil {
		argv := []string{"unshare", "--root", dir, "/program"}
		if os.Geteuid() != 0 {
			argv = slices.Insert(argv, 1, "--map-root-user")
		}
		err = run(ctx, io.Discard, "", nil, argv...)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// program is a whole program: elf(5) with one segment, which is the file. The segment begins at a page, also if pages have 64 KiB.
func (p processor) program() []byte {
	const at, page = 0x400000, 0x10000
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(p.machine), Version: uint32(elf.EV_CURRENT), Phnum: 1,
	}
	segment := elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: at, Paddr: at, Align: page}
	header.Ehsize, header.Phentsize = uint16(binary.Size(header)), uint16(binary.Size(segment))
	header.Phoff = uint64(header.Ehsize)
	start := uint64(header.Ehsize + header.Phentsize)
	header.Entry = at + start
	segment.Filesz = start + uint64(len(p.ends))
	segment.Memsz = segment.Filesz
	var b bytes.Buffer
	for _, part := range []any{header, segment, p.ends} {
		_ = binary.Write(&b, binary.LittleEndian, part) // a buffer takes everything
	}
	return b.Bytes()
}
