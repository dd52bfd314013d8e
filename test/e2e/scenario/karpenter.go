package scenario

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
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
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// karpentersEnd is how long Karpenter is given to end by itself.
const karpentersEnd = 10 * time.Second

// provisioner is a Karpenter that runs beside the cluster, with Slipway's provider, and the machines that it has.
type provisioner struct {
	machines *machines
	process  *lab.Process
	server   *http.Server
	// name is the machine's that runs.
	name string
	// number counts the machines.
	number int
	// expired are the secrets of the tokens that the case has had expire.
	expired []string
}

// karpenterArgs say what Karpenter knows.
type karpenterArgs struct {
	// Objects is a file of the case with what the provider knows: settings, cluster, images.
	Objects string `yaml:"objects"`
	// Types is a file of the case with the instance types.
	Types string `yaml:"types"`
	// Version is the cluster's version of Kubernetes, in place of the one in the objects.
	Version string `yaml:"version"`
	// Manifest is a file of the case with what all images have; without it, nobody knows.
	Manifest string `yaml:"manifest"`
	// SkipCheck has a machine started although its image cannot do what the node needs.
	SkipCheck bool `yaml:"skipCheck"`
}

// startKarpenter starts the core of Karpenter with Slipway's provider. Where it runs already, it is started anew.
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
	kubeconfig, err := r.Lab.PKI.KubeconfigFor("admin", "https://"+lab.HostAddress)
	if err != nil {
		return err
	}
	env := []string{
		"KUBECONFIG=" + kubeconfig, "E2E_MACHINES=" + r.machinesSocket(), "E2E_OBJECTS=" + objects,
		"E2E_INSTANCE_TYPES=" + filepath.Join(r.Dir, args.Types), fmt.Sprintf("E2E_SKIP_CHECK=%v", args.SkipCheck),
		"E2E_KUBERNETES_VERSION=" + args.Version, "E2E_TOKEN_GROUP=" + lab.Bootstrappers,
	}
	if args.Manifest != "" {
		env = append(env, "E2E_MANIFEST="+filepath.Join(r.Dir, args.Manifest))
	}
	r.provisioner.process, err = r.Lab.Run(ctx, "karpenter", env, r.Lab.Parts.Programs[lab.Karpenter], "--disable-leader-election",
		"--batch-idle-duration=1s", "--batch-max-duration=2s")
	return err
}

// machinesSocket is where the cloud of the machines answers.
func (r *caseRun) machinesSocket() string { return filepath.Join(r.Lab.Dir(), "machines-"+r.Name) }

// serveMachines begins to answer a provisioner.
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

// endKarpenter ends it, where the case has one, and keeps its log.
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
	errs = append(errs, p.server.Close())
	errs = append(errs, r.minting(ctx, mintingArgs{Allowed: true}))
	// Nobody is left who would let go of them.
	for _, path := range []string{"/apis/karpenter.sh/v1/nodeclaims", "/apis/karpenter.sh/v1/nodepools", "/apis/karpenter.azure.com/v1beta1/aksnodeclasses", "/api/v1/nodes"} {
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
		return nil // there is no such kind: the program did not come so far
	}
	errs := []error{r.Lab.API.Delete(ctx, path)}
	for _, item := range list.Items {
		err := r.Lab.API.Merge(ctx, path+"/"+item.Metadata.Name, map[string]any{"metadata": map[string]any{"finalizers": nil}})
		if err != nil && !strings.Contains(err.Error(), "404") {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// collections are where objects of a kind are.
var collections = map[string]string{
	"NodePool":     "/apis/karpenter.sh/v1/nodepools",
	"AKSNodeClass": "/apis/karpenter.azure.com/v1beta1/aksnodeclasses",
}

// object is one of the cluster's, which the case has.
type object map[string]any

func (o object) path() (collection, name string, err error) {
	kind, _ := o["kind"].(string)
	metadata, _ := o["metadata"].(object) // as YAML decodes what is below an object
	name, _ = metadata["name"].(string)
	collection = collections[kind]
	if collection == "" || name == "" {
		return "", "", fmt.Errorf("an object of the kind %q with the name %q: want a name, and one of the kinds NodePool and AKSNodeClass", kind, name)
	}
	return collection, name, nil
}

// create makes an object, as soon as its kind is known to the cluster.
func (r *caseRun) create(ctx context.Context, o object) error {
	collection, _, err := o.path()
	if err != nil {
		return err
	}
	return r.eventually(ctx, func() error { return r.Lab.API.Create(ctx, collection, o) })
}

// patch lays a change over an object that the cluster has.
func (r *caseRun) patch(ctx context.Context, o object) error {
	collection, name, err := o.path()
	if err != nil {
		return err
	}
	return r.Lab.API.Merge(ctx, collection+"/"+name, o)
}

// pendingArgs are a pod that fits on no node.
type pendingArgs struct {
	Name     string            `yaml:"name"`
	Selector map[string]string `yaml:"selector"`
	// CPU is what it requests; default 100m.
	CPU string `yaml:"cpu"`
}

// pending makes a pod that waits for a node.
func (r *caseRun) pending(ctx context.Context, args pendingArgs) error {
	if err := r.serviceAccount(ctx); err != nil {
		return err
	}
	return r.Lab.API.Create(ctx, "/api/v1/namespaces/default/pods", map[string]any{
		"metadata": map[string]any{"name": args.Name},
		"spec": map[string]any{
			"nodeSelector": args.Selector,
			"tolerations":  []any{map[string]any{"key": "dedicated", "operator": "Exists"}},
			"containers": []any{map[string]any{
				"name": "web", "image": parts.Pause, "imagePullPolicy": "Never", "args": []string{"serve", ":8080"},
				"resources": map[string]any{"requests": map[string]any{"cpu": cmp.Or(args.CPU, "100m"), "memory": "64Mi"}},
			}},
			"terminationGracePeriodSeconds": 1,
		},
	})
}

// runs waits until a pod runs.
func (r *caseRun) runs(ctx context.Context, args pendingArgs) error {
	_, _, err := r.runningPod(ctx, args.Name)
	return err
}

// deletePod removes a pod.
func (r *caseRun) deletePod(ctx context.Context, args pendingArgs) error {
	return r.Lab.API.Delete(ctx, "/api/v1/namespaces/default/pods/"+args.Name)
}

// machineArgs say what comes of a machine.
type machineArgs struct {
	// NoNode says that it does not become one.
	NoNode bool `yaml:"noNode"`
	// Files is a folder beside case.yaml, whose files the machine's copy of the image has; without it, it has none more.
	Files string `yaml:"files"`
}

// bootMachine boots the machine that Karpenter has asked for, and does for its Node what a cloud's controller does: the Node says
// which machine it is, and that it is initialized.
func (r *caseRun) bootMachine(ctx context.Context, args machineArgs) error {
	var request launchRequest
	err := r.eventually(ctx, func() (err error) {
		var asked bool
		if request, asked = r.provisioner.machines.take(); !asked {
			err = errors.New("no machine was asked for by Karpenter")
		}
		return err
	})
	if err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(request.UserData)
	if err != nil {
		return fmt.Errorf("the user data of %s: %w", request.Name, err)
	}
	p := r.provisioner
	p.number++
	p.name = request.Name
	m := r.machine()
	if args.Files != "" {
		if m, err = r.furnished(ctx, m, args.Files, func(string) error { return nil }); err != nil {
			return err
		}
	}
	if m, err = r.Lab.In(ctx, "azure", m, lab.Guest{Name: request.Name, Number: p.number, UserData: data}); err != nil {
		return err
	}
	r.node = watchNode(ctx, r.Lab.API, newNode(r.names))
	if r.vm, err = r.Lab.Boot(ctx, m); err != nil || args.NoNode {
		return err
	}
	return r.eventually(ctx, func() error { return r.adopt(ctx, request.ID) })
}

// uninitialized is the taint of a Node that no cloud's controller has seen yet.
const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

// adopt says of the machine's Node which machine it is.
func (r *caseRun) adopt(ctx context.Context, id string) error {
	name := r.node.nodeName()
	if name == "" {
		return errors.New("the machine has no Node yet")
	}
	var have struct {
		Spec struct{ Taints []map[string]any }
	}
	if err := r.Lab.API.Get(ctx, "/api/v1/nodes/"+name, &have); err != nil {
		return err
	}
	taints := slices.DeleteFunc(have.Spec.Taints, func(taint map[string]any) bool { return taint["key"] == uninitialized })
	return r.Lab.API.Merge(ctx, "/api/v1/nodes/"+name, map[string]any{"spec": map[string]any{"providerID": id, "taints": taints}})
}

// resultPath is where a machine keeps what came of its provisioning.
const resultPath = "/var/lib/slipway/provision.json"

// reportArgs say which result a machine has.
type reportArgs struct {
	// Code is the exit code of its provisioning.
	Code string `yaml:"code"`
	// Status hands the status of the machine's last run over, and not the result of its provisioning.
	Status bool `yaml:"status"`
}

// report brings what the machine says of itself to Karpenter, as a cloud does: as soon as it says the exit code.
func (r *caseRun) report(ctx context.Context, args reportArgs) error {
	path := resultPath
	if args.Status {
		path = statusPath
	}
	return r.eventually(ctx, func() error {
		text, err := r.vm.Shell.Output(ctx, "cat "+path+" 2>/dev/null || true")
		if err != nil {
			return err
		}
		// The one has the code as text, the other as a number.
		var result struct{ ExitCode any }
		if err := json.Unmarshal([]byte(text), &result); err != nil || fmt.Sprint(result.ExitCode) != args.Code {
			return fmt.Errorf("the machine says %q, want the exit code %q", text, args.Code)
		}
		r.provisioner.machines.reported(r.provisioner.name, []byte(text))
		return nil
	})
}

// update waits until Karpenter has told the machine to change, and gives its metadata service the user data for that.
func (r *caseRun) update(ctx context.Context, _ struct{}) error {
	var request launchRequest
	err := r.eventually(ctx, func() (err error) {
		var told bool
		if request, told = r.provisioner.machines.takeUpdate(); !told {
			err = errors.New("no machine was told to change by Karpenter")
		}
		return err
	})
	if err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(request.UserData)
	if err != nil {
		return fmt.Errorf("the user data of %s: %w", request.Name, err)
	}
	r.Lab.Cloud.SetUserData(data)
	return nil
}

// eventArgs are what an event says.
type eventArgs struct {
	Reason string `yaml:"reason"`
}

// event waits until the cluster has an event of a reason.
func (r *caseRun) event(ctx context.Context, want eventArgs) error {
	return r.eventually(ctx, func() error {
		var list struct {
			Items []struct{ Reason, Message string }
		}
		if err := r.Lab.API.Get(ctx, "/api/v1/namespaces/default/events", &list); err != nil {
			return err
		}
		var seen []string
		for _, e := range list.Items {
			if e.Reason == want.Reason {
				return nil
			}
			seen = append(seen, e.Reason)
		}
		return fmt.Errorf("there is no event %s among %q", want.Reason, slices.Compact(slices.Sorted(slices.Values(seen))))
	})
}

// condition is one of an object's.
type condition struct{ Type, Status, Reason, Message string }

// claimArgs are what a NodeClaim must be like.
type claimArgs struct {
	// Conditions are those that must be true.
	Conditions []string `yaml:"conditions"`
	// False are conditions that must not be true, each with a text that its reason or message has.
	False map[string]string `yaml:"false"`
	// Machines is how many machines there are, where it is given.
	Machines *int `yaml:"machines"`
}

// claim waits until a NodeClaim is so.
func (r *caseRun) claim(ctx context.Context, want claimArgs) error {
	return r.eventually(ctx, func() error {
		var list struct {
			Items []struct {
				Status struct{ Conditions []condition }
			}
		}
		if err := r.Lab.API.Get(ctx, collectionOfClaims, &list); err != nil {
			return err
		}
		if n := r.provisioner.machines.count(); want.Machines != nil && n != *want.Machines {
			return fmt.Errorf("there are %d machines, want %d", n, *want.Machines)
		}
		wrong := errors.New("there is no claim")
		for _, item := range list.Items {
			missing := want.missing(item.Status.Conditions)
			if missing == "" {
				return nil
			}
			wrong = fmt.Errorf("a claim's conditions are %v, and do not show %s", item.Status.Conditions, missing)
		}
		return wrong
	})
}

// missing is what conditions do not show; empty where they show all.
func (want *claimArgs) missing(conditions []condition) string {
	var missing []string
	for _, kind := range want.Conditions {
		if !slices.ContainsFunc(conditions, func(c condition) bool { return c.Type == kind && c.Status == "True" }) {
			missing = append(missing, kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(want.False)) {
		text := want.False[kind]
		shows := func(c condition) bool {
			return c.Type == kind && c.Status != "True" && strings.Contains(c.Reason+": "+c.Message, text)
		}
		if !slices.ContainsFunc(conditions, shows) {
			missing = append(missing, kind+" with "+text)
		}
	}
	return strings.Join(missing, ", ")
}

// collectionOfClaims is where NodeClaims are.
const collectionOfClaims = "/apis/karpenter.sh/v1/nodeclaims"

// stopped waits until Karpenter wants the machine to be stopped, takes its power away, and waits until claim and Node are gone.
func (r *caseRun) stopped(ctx context.Context, _ struct{}) error {
	p := r.provisioner
	err := r.eventually(ctx, func() error {
		if !p.machines.stopping(p.name) {
			return fmt.Errorf("the machine %s is not to be stopped yet", p.name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.vm.Stop()
	r.vm = nil
	p.machines.gone(p.name)
	return r.eventually(ctx, func() error {
		for _, path := range []string{collectionOfClaims, "/api/v1/nodes"} {
			var list struct{ Items []any }
			if err := r.Lab.API.Get(ctx, path, &list); err != nil {
				return err
			}
			if len(list.Items) != 0 {
				return fmt.Errorf("%s has %d objects, want none", path, len(list.Items))
			}
		}
		return nil
	})
}
