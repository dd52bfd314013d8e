package lab

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// Programs that only some cases need.
const (
	Authenticator = "aws-iam-authenticator"
	Ignition      = "ignition"
	// Karpenter is Karpenter's core with Slipway's provider, from test/e2e/karpenter.
	Karpenter = "karpenter"
	// NewerKarpenter is the same, built as another version.
	NewerKarpenter = "karpenter-newer"
	Kubeadm        = "kubeadm"
	// ECRProvider is the credential provider of AWS's images.
	ECRProvider = "ecr-credential-provider"
)

// Parts are the directories of the lab's programs.
type Parts struct {
	Kubernetes string
	// Containerd has the programs that cases publish as a package.
	Containerd string
	Etcd       string
	// Payload has the program of pods' images, payload.
	Payload string
	// Programs are the paths of programs that only some cases need, by name.
	Programs map[string]string
}

// Lab is a running sandbox.
type Lab struct {
	Parts Parts
	Cloud *fakecloud.Cloud
	// besides are the cloud's data for machines that run beside another, by their addresses: each a *fakecloud.Cloud.
	besides sync.Map
	Log     *slog.Logger
	// Token is the bootstrap token that the cluster accepts.
	Token string
	// PKI holds the cluster's certificates.
	PKI *PKI
	// API calls the API server as the cluster's administrator.
	API *API
	// Registries have images that no node's image contains.
	Registries *Registries
	// Isolated is the registry of an air-gapped cluster.
	Isolated *Isolated
	// AWSPKI has signed the certificate of AWS's registry.
	AWSPKI *PKI
	// Disk limits the disks of the machines that start from now on.
	Disk DiskLimits

	dir       string
	processes []*Process
	// dnsmasq is the DHCP server, and address is the machine's address in it.
	dnsmasq *Process
	address string
	// webhook is the kubeconfig with which the API server verifies AWS identities.
	webhook string
	// servers are the API server and the programs that stop and start with it.
	servers []*Process

	servicesMu sync.Mutex
	// services are the cloud's services, while they run.
	services []*http.Server
	// revival starts them again, if they are stopped for a time.
	revival *time.Timer
}

// Start makes the sandbox's network and control plane. dir is the directory for its state and its logs; its former content is
// removed.
func Start(ctx context.Context, dir string, parts Parts, log *slog.Logger) (*Lab, error) {
	if err := enter(); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l := &Lab{Parts: parts, Cloud: fakecloud.New(fakecloud.Instance{}), Log: log, dir: dir}
	begin := time.Now()
	if err := l.network(ctx); err != nil {
		return l, err
	}
	if err := l.registries(ctx); err != nil {
		return l, err
	}
	if err := l.controlPlane(ctx); err != nil {
		return l, fmt.Errorf("control plane: %w", err)
	}
	if err := l.isolated(); err != nil {
		return l, fmt.Errorf("isolated registry: %w", err)
	}
	if err := l.ecr(ctx); err != nil {
		return l, fmt.Errorf("AWS's registry: %w", err)
	}
	log.Info("control plane is ready", "seconds", time.Since(begin).Seconds())
	return l, nil
}

// Dir returns the directory of the lab's state and logs.
func (l *Lab) Dir() string { return l.dir }

// Stop ends all processes, the latest first. The rest ends with the sandbox.
func (l *Lab) Stop() {
	for i := len(l.processes) - 1; i >= 0; i-- {
		l.processes[i].Stop(3 * time.Second)
	}
}

// Process is a program that runs in the sandbox.
type Process struct {
	Name string
	// LogPath is the path of its output.
	LogPath string
	cmd     *exec.Cmd
	done    chan struct{}
	err     error
}

// start starts a program, with its output in a file of its name.
func (l *Lab) start(ctx context.Context, name string, env []string, argv ...string) (*Process, error) {
	p := &Process{Name: name, LogPath: filepath.Join(l.dir, name+".log"), done: make(chan struct{})}
	out, err := os.OpenFile(p.LogPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	l.processes = append(l.processes, p)
	return p, nil
}

// Run starts a program for a case. It ends with the lab, if the case does not end it.
func (l *Lab) Run(ctx context.Context, name string, env []string, argv ...string) (*Process, error) {
	return l.start(ctx, name, env, argv...)
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// await waits until a program is ready, as long as it runs.
func (p *Process) await(ctx context.Context, is func(context.Context) error) error {
	for {
		err := is(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: see %s", p.Name, err, p.LogPath)
		case <-p.done:
			return fmt.Errorf("%s has ended: %s: see %s", p.Name, lastLine(p.LogPath), p.LogPath)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop asks the program to end, and kills it if it does not.
func (p *Process) Stop(patience time.Duration) {
	p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.done:
	case <-time.After(patience):
		p.cmd.Process.Kill()
		<-p.done
	}
}

// Kill ends the program at once.
func (p *Process) Kill() {
	p.cmd.Process.Kill()
	<-p.done
}
