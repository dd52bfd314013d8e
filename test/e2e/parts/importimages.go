package parts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// importImages fills the store of an image's container runtime, with that runtime itself, as an
// image build does. It runs in a separate mount namespace, so nothing stays mounted.
func importImages(ctx context.Context, scratch, root string, in imageInputs) error {
	// The daemon dies with the thread that started it, so this goroutine keeps its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	state, err := os.MkdirTemp("", "slipway-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	socket, config := filepath.Join(state, "c.sock"), filepath.Join(state, "config.toml")
	content := fmt.Sprintf("version = 2\nroot = %q\nstate = %q\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\", \"io.containerd.cri.v1.images\", "+
		"\"io.containerd.cri.v1.runtime\", \"io.containerd.nri.v1.nri\"]\n[grpc]\naddress = %q\n[ttrpc]\naddress = %q\n",
		filepath.Join(root, "var", "lib", "containerd"), filepath.Join(state, "run"), socket, socket+".ttrpc")
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(scratch, "import.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	daemon := exec.CommandContext(ctx, filepath.Join(in.containerd, "containerd"), "--config", config)
	daemon.Stdout, daemon.Stderr = log, log
	daemon.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	daemon.Cancel = func() error { return daemon.Process.Signal(syscall.SIGTERM) }
	if err := daemon.Start(); err != nil {
		return fmt.Errorf("start containerd to import images: %w", err)
	}
	defer daemon.Wait()
	defer cancel()
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		} else if time.Since(begin) > 20*time.Second {
			return fmt.Errorf("containerd did not start to import images, see %s", log.Name())
		}
	}
	ctr := []string{filepath.Join(in.containerd, "ctr"), "--address", socket, "-n", "k8s.io", "images"}
	if err := run(ctx, scratch, nil, append(slices.Clip(ctr), "import", filepath.Join(in.payload, "payload.tar"))...); err != nil {
		return err
	}
	return run(ctx, scratch, nil, append(slices.Clip(ctr), "tag", Pause, AKSPause, EKSPause)...)
}
