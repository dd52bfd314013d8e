package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// karpentersEnd is how long Karpenter may take to end by itself.
const karpentersEnd = 10 * time.Second

// provisioner is a Karpenter that runs beside the cluster, with Slipway's provider, and its machines.
type provisioner struct {
	machines *machines
	process  *lab.Process
	server   *http.Server
	// name is the machine of the case's present steps, and place is its place in the network.
	name  string
	place int
	// others are the machines that run beside it.
	others []runningMachine
	// number counts the machines.
	number int
	// expired are the secrets of the tokens that the case has expired.
	expired []string
}

// karpenterArgs are Karpenter's inputs.
type karpenterArgs struct {
	// Objects is a file of the case with the provider's inputs: settings, cluster, images.
	Objects string `yaml:"objects"`
	// Images is a file of the case with a list of images, instead of those in the objects. Empty means those.
	Images string `yaml:"images"`
	// Types is a file of the case with the instance types.
	Types string `yaml:"types"`
	// Version is the cluster's Kubernetes version, instead of the one in the objects.
	Version string `yaml:"version"`
	// Manifest is a file of the case with the manifest of all images. Empty means that the manifest is unknown.
	Manifest string `yaml:"manifest"`
	// Settings is the name of a ConfigMap whose settings win over those in the objects; it is watched. Empty means none.
	Settings string `yaml:"settings"`
	// SkipCheck starts a machine although its image cannot do what the node needs.
	SkipCheck bool `yaml:"skipCheck"`
	// Newer uses the program that was built as another version.
	Newer bool `yaml:"newer"`
}

// program is the program to start. Its version is its own name.
func (a *karpenterArgs) program() string {
	if a.Newer {
		return lab.NewerKarpenter
	}
	return lab.Karpenter
}

// startKarpenter starts the core of Karpenter with Slipway's provider. If it runs already, it is restarted.
func (r *caseRun) startKarpenter(ctx context.Context, args karpenterArgs) error {
	if r.provisioner == nil {
		if err := r.serveMachines(); err != nil {
			return err
		}
	} else {
		r.provisioner.process.Stop(karpentersEnd)
	}
	objects, err := r.fill(ctx, contractArgs{Contract: args.Objects})
	if err != nil {
		return err
	}
	if args.Images != "" {
		if err := r.addObjects(objects, args.Images); err != nil {
			return err
		}
	}
	kubeconfig, err := r.Lab.PKI.KubeconfigFor("admin", "https://"+lab.HostAddress)
	if err != nil {
		return err
	}
	env := []string{
		"KUBECONFIG=" + kubeconfig, "E2E_MACHINES=" + r.machinesSocket(), "E2E_OBJECTS=" + objects,
		"E2E_INSTANCE_TYPES=" + filepath.Join(r.Dir, args.Types), fmt.Sprintf("E2E_SKIP_CHECK=%v", args.SkipCheck),
		"E2E_KUBERNETES_VERSION=" + args.Version, "E2E_SETTINGS=" + args.Settings, "E2E_TOKEN_GROUP=" + lab.Bootstrappers,
	}
	if args.Manifest != "" {
		env = append(env, "E2E_MANIFEST="+filepath.Join(r.Dir, args.Manifest))
	}
	r.provisioner.process, err = r.Lab.Run(ctx, "karpenter", env, r.Lab.Parts.Programs[args.program()], "--disable-leader-election",
		"--batch-idle-duration=1s", "--batch-max-duration=2s")
	if err != nil {
		return err
	}
	return r.eventually(ctx, func() error { return versionSaid(r.provisioner.process.LogPath, args.program()) })
}

// versionSaid reports whether the program that was started last has logged its version.
func versionSaid(path, want string) error {
	log, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, said, _ := strings.Cut(string(log[max(strings.LastIndex(string(log), versionLine), 0):]), versionLine)
	if said, _, _ = strings.Cut(said, "\n"); said != want {
		return fmt.Errorf("karpenter says that it is the version %q, want %q", said, want)
	}
	return nil
}

// versionLine is the prefix of the line with the program's version (test/e2e/karpenter).
const versionLine = "slipway's version: "

// addObjects appends the objects of a file of the case to a stream: of two with the same kind, the last one counts.
func (r *caseRun) addObjects(stream, file string) error {
	before, err := os.ReadFile(stream)
	if err != nil {
		return err
	}
	more, err := os.ReadFile(filepath.Join(r.Dir, file))
	if err != nil {
		return err
	}
	return os.WriteFile(stream, slices.Concat(before, []byte("---\n"), more), 0o600)
}

// machinesSocket is the path of the socket of the machines' cloud.
func (r *caseRun) machinesSocket() string { return filepath.Join(r.dir, "machines") }

// serveMachines starts to answer a provisioner.
func (r *caseRun) serveMachines() error {
	path := r.machinesSocket()
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	m := &machines{all: make(map[string]*machine)}
	r.provisioner = &provisioner{machines: m, server: &http.Server{Handler: m.handler()}}
	go r.provisioner.server.Serve(listener)
	return nil
}

// endKarpenter ends Karpenter, if the case has one, and keeps its log.
func (r *caseRun) endKarpenter(ctx context.Context) error {
	p := r.provisioner
	if p == nil {
		return nil
	}
	var errs []error
	if p.process != nil {
		p.process.Stop(karpentersEnd)
		log, err := os.ReadFile(p.process.LogPath)
		errs = append(errs, err, os.WriteFile(filepath.Join(r.out, "karpenter.log"), log, 0o644))
	}
	errs = append(errs, p.server.Close(), r.minting(ctx, mintingArgs{Allowed: true}))
	// The controllers that would release these objects have ended.
	for _, path := range append(slices.Sorted(maps.Values(collections)), collectionOfClaims, collectionOfNodes) {
		errs = append(errs, r.release(ctx, path))
	}
	return errors.Join(errs...)
}

// release removes the objects of a collection, with the finalizers of programs that have ended.
func (r *caseRun) release(ctx context.Context, path string) error {
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := r.Lab.API.Get(ctx, path, &list); err != nil {
		return nil // the kind does not exist, because the program ended before it made it
	}
	errs := []error{r.Lab.API.Delete(ctx, path)}
	for _, item := range list.Items {
		err := r.Lab.API.Merge(ctx, path+"/"+item.Metadata.Name, map[string]any{"metadata": map[string]any{"finalizers": nil}})
		if refusal, is := errors.AsType[*lab.StatusError](err); err != nil && (!is || refusal.Code != http.StatusNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
