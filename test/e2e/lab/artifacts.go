package lab

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// artifactsPort is the name of the port through which a machine sends files.
const artifactsPort = "e2e.artifacts"

// Artifacts runs commands in the machine and returns their outputs, by name, with both streams
// merged. The outputs come through a separate port, which is a hundred times as fast as the
// shell's.
func (vm *VM) Artifacts(ctx context.Context, commands map[string]string) (map[string][]byte, error) {
	before, err := os.Stat(vm.artifactsPath())
	if err != nil {
		return nil, err
	}
	size, err := vm.Shell.Output(ctx, artifactsScript(commands))
	if err != nil {
		return nil, err
	}
	want, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the machine hands out no files: %q", firstWords(size))
	}
	archive, err := vm.readArtifacts(ctx, before.Size(), want)
	if err != nil {
		return nil, err
	}
	return untar(archive)
}

// artifactsScript writes an archive to the port, and prints its size.
func artifactsScript(commands map[string]string) string {
	var script strings.Builder
	script.WriteString("d=$(mktemp -d /run/artifacts.XXXXXX) && cd $d && mkdir out\n")
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		fmt.Fprintf(&script, "{ %s\n} >out/%s 2>&1 </dev/null &\n", commands[name], name)
	}
	script.WriteString("wait; tar -C out -cf all.tar . && cat all.tar >/dev/virtio-ports/" + artifactsPort + " && stat -c %s all.tar; rm -r $d\n")
	return script.String()
}

// readArtifacts waits until QEMU has written all that the machine has sent.
func (vm *VM) readArtifacts(ctx context.Context, offset, size int64) ([]byte, error) {
	for {
		file, err := os.Open(vm.artifactsPath())
		if err != nil {
			return nil, err
		}
		archive, err := io.ReadAll(io.NewSectionReader(file, offset, size))
		file.Close()
		if err != nil || int64(len(archive)) == size {
			return archive, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the machine's files: %d of %d bytes arrived: %w", len(archive), size, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// untar returns the files of an archive, by name.
func untar(archive []byte) (map[string][]byte, error) {
	files := make(map[string][]byte)
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if files[strings.TrimPrefix(header.Name, "./")], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
}
