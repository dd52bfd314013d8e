package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/machineboot"
)

// node has the fields of a Node that the test reads.
type node struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		ProviderID string                                `json:"providerID"`
		Taints     []struct{ Key, Value, Effect string } `json:"taints"`
	} `json:"spec"`
	Status struct {
		Capacity    map[string]string                `json:"capacity"`
		Allocatable map[string]string                `json:"allocatable"`
		Conditions  []struct{ Type, Status string }  `json:"conditions"`
		Addresses   []struct{ Type, Address string } `json:"addresses"`
		NodeInfo    map[string]any                   `json:"nodeInfo"`
	} `json:"status"`
}

func (n *node) ready() bool {
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return false
}

// nodeWatch records when a Node registers and when it becomes Ready.
type nodeWatch struct {
	// is reports whether a Node is the watched one.
	is func(node) bool

	mu         sync.Mutex
	name       string
	registered time.Time
	ready      time.Time
	isReady    chan struct{}
	cancel     context.CancelFunc
	// requests are the certificate requests meanwhile.
	requests *machineboot.Requests
}

// newNode matches any Node with a new name: one machine runs at a time, and it or its cloud may
// choose the name.
func newNode(known []string) func(node) bool {
	known = slices.Clone(known)
	return func(n node) bool { return !slices.Contains(known, n.Metadata.Name) }
}

// bootedNode matches the Node whose kubelet reports a boot of the machine.
func bootedNode(boot string) func(node) bool {
	return func(n node) bool { return n.Status.NodeInfo["bootID"] == boot }
}

// watchNode watches for a Node.
func watchNode(ctx context.Context, api *lab.API, is func(node) bool) *nodeWatch {
	ctx, cancel := context.WithCancel(ctx)
	w := &nodeWatch{is: is, isReady: make(chan struct{}), cancel: cancel, requests: machineboot.WatchRequests(ctx, api)}
	go func() {
		for ctx.Err() == nil {
			err := lab.Watch(ctx, api, collectionOfNodes, w.see)
			if err == nil {
				return
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
	return w
}

func (w *nodeWatch) see(n node) bool {
	if !w.is(n) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.registered.IsZero() {
		w.name, w.registered = n.Metadata.Name, time.Now()
	}
	if !n.ready() {
		return false
	}
	w.ready = time.Now()
	close(w.isReady)
	return true
}

// nodeName is the name of the machine's Node.
func (w *nodeWatch) nodeName() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.name
}

func (w *nodeWatch) times() (registered, ready time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.registered, w.ready
}

func (w *nodeWatch) stop() { w.cancel() }

// readyArgs are the arguments of ready, which needs no arguments.
type readyArgs struct{}

// ready waits until the Node is Ready.
func (r *caseRun) ready(ctx context.Context, _ readyArgs) error {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	for {
		select {
		case <-r.node.isReady:
			// Now, because a later step may restart units.
			if r.lastBoot == nil {
				r.agentEnded(ctx)
				b := r.timeline(ctx)
				r.lastBoot = &b
			}
			return nil
		case <-ctx.Done():
			return fmt.Errorf("the node is not Ready: %w", context.Cause(ctx))
		case <-time.After(time.Second):
			if err := r.vm.Healthy(); err != nil {
				return err
			}
		}
	}
}

// nodeArgs are the required properties of the Node.
type nodeArgs struct {
	Name       string            `yaml:"name"`
	Labels     map[string]string `yaml:"labels"`
	Taints     []string          `yaml:"taints"`
	MaxPods    string            `yaml:"maxPods"`
	Kubelet    string            `yaml:"kubelet"`
	Containerd string            `yaml:"containerd"`
	// ProviderID is the machine's ID in its cloud.
	ProviderID string `yaml:"providerID"`
	// Address is its internal address; several are separated by commas.
	Address string `yaml:"address"`
}

// checkNode compares the Node with what the contract requires, and reports all differences at once.
// The kubelet gets time to report changes.
func (r *caseRun) checkNode(ctx context.Context, want nodeArgs) error {
	want.Kubelet = strings.ReplaceAll(want.Kubelet, kubernetesPlaceholder, r.Kubelet)
	return r.eventually(ctx, func() error {
		var have node
		if err := r.Lab.API.Get(ctx, collectionOfNodes+"/"+r.node.nodeName(), &have); err != nil {
			return err
		}
		return want.compare(&have)
	})
}

// eventually repeats a check until it succeeds or the time is over.
func (r *caseRun) eventually(ctx context.Context, check func() error) error {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(500 * time.Millisecond):
			if r.vm == nil { // no machine runs yet
				continue
			}
			if why := r.vm.Healthy(); why != nil {
				return errors.Join(err, why)
			}
		}
	}
}

func (want *nodeArgs) compare(have *node) error {
	var wrong []string
	compare := func(what, want, have string) {
		if want != "" && want != have {
			wrong = append(wrong, fmt.Sprintf("%s is %q, want %q", what, have, want))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want.Labels)) {
		compare("label "+name, want.Labels[name], have.Metadata.Labels[name])
	}
	var taints []string
	for _, t := range have.Spec.Taints {
		taints = append(taints, t.Key+"="+t.Value+":"+t.Effect)
	}
	for _, taint := range want.Taints {
		if !slices.Contains(taints, taint) {
			wrong = append(wrong, fmt.Sprintf("taint %s is missing among %q", taint, taints))
		}
	}
	var addresses []string
	for _, a := range have.Status.Addresses {
		if a.Type == "InternalIP" {
			addresses = append(addresses, a.Address)
		}
	}
	compare("name", want.Name, have.Metadata.Name)
	compare("capacity of pods", want.MaxPods, have.Status.Capacity["pods"])
	compare("pods that it allows", want.MaxPods, have.Status.Allocatable["pods"])
	compare("kubelet's version", want.Kubelet, fmt.Sprint(have.Status.NodeInfo["kubeletVersion"]))
	compare("container runtime", want.Containerd, fmt.Sprint(have.Status.NodeInfo["containerRuntimeVersion"]))
	compare("provider ID", want.ProviderID, have.Spec.ProviderID)
	compare("internal addresses", want.Address, strings.Join(addresses, ","))
	if len(wrong) > 0 {
		return fmt.Errorf("the node differs: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// deleteNodeArgs are the arguments of deleteNode, which needs no arguments.
type deleteNodeArgs struct{}

// deleteNode deletes the machine's Node.
func (r *caseRun) deleteNode(ctx context.Context, _ deleteNodeArgs) error {
	return r.Lab.API.Delete(ctx, collectionOfNodes+"/"+r.node.nodeName())
}
