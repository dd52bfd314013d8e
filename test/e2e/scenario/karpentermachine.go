package scenario

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// machineArgs describe a machine that is started.
type machineArgs struct {
	// NoNode means that the machine does not become a node.
	NoNode bool `yaml:"noNode"`
	// Beside keeps the earlier machines running until a step stops one of them.
	Beside bool `yaml:"beside"`
}

// runningMachine is a running machine, its Node, and its place in the network.
type runningMachine struct {
	name  string
	vm    *lab.VM
	node  *nodeWatch
	place int
}

// aside keeps the case's machine running while the steps use another one.
func (r *caseRun) aside() {
	p := r.provisioner
	p.others = append(p.others, runningMachine{p.name, r.vm, r.node, p.place})
}

// turnTo makes the following steps use the machine with a name.
func (r *caseRun) turnTo(name string) error {
	p := r.provisioner
	if p.name == name {
		return nil
	}
	i := slices.IndexFunc(p.others, func(m runningMachine) bool { return m.name == name })
	if i < 0 {
		return fmt.Errorf("no machine %s runs", name)
	}
	m := p.others[i]
	p.others = slices.Delete(p.others, i, i+1)
	r.aside()
	p.name, p.place, r.vm, r.node = m.name, m.place, m.vm, m.node
	return nil
}

// freePlace is an unused place in the network.
func (p *provisioner) freePlace() (int, error) {
	for place := range lab.Places() {
		if !slices.ContainsFunc(p.others, func(m runningMachine) bool { return m.place == place }) {
			return place, nil
		}
	}
	return 0, fmt.Errorf("%d machines run already, and the network has no more places", len(p.others))
}

// bootMachine boots the machine that Karpenter has requested, and does what a cloud's controller does for its Node: it sets the
// Node's machine, and marks it initialized.
func (r *caseRun) bootMachine(ctx context.Context, args machineArgs) error {
	p := r.provisioner
	request, data, err := r.requested(ctx, p.machines.take)
	if err != nil {
		return err
	}
	m := r.machine()
	if args.Beside {
		r.aside()
	}
	for _, other := range p.others {
		r.names = append(r.names, other.node.nodeName())
	}
	if p.place, err = p.freePlace(); err != nil {
		return err
	}
	m.Dir, m.Place = fmt.Sprintf("%s-%d", m.Dir, p.number), p.place
	p.number++
	p.name = request.Name
	if m, err = r.Lab.In(ctx, "azure", m, lab.Guest{Name: request.Name, Number: p.number, UserData: data}); err != nil {
		return err
	}
	r.node = watchNode(ctx, r.Lab.API, newNode(r.names))
	if r.vm, err = r.Lab.Boot(ctx, m); err != nil || args.NoNode {
		return err
	}
	return r.eventually(ctx, func() error { return r.adopt(ctx, request.ID) })
}

// requested waits until Karpenter has requested a machine or an update, and returns the request with its user data.
func (r *caseRun) requested(ctx context.Context, take func() (launchRequest, bool)) (request launchRequest, data []byte, err error) {
	err = r.eventually(ctx, func() error {
		var is bool
		if request, is = take(); !is {
			return errors.New("nothing was requested of a machine by Karpenter")
		}
		return nil
	})
	if err != nil {
		return request, nil, err
	}
	if data, err = base64.StdEncoding.DecodeString(request.UserData); err != nil {
		return request, nil, fmt.Errorf("the user data of %s: %w", request.Name, err)
	}
	return request, data, nil
}

// uninitialized is the taint of a Node that no cloud's controller has initialized.
const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

// adopt sets in the machine's Node which machine it is.
func (r *caseRun) adopt(ctx context.Context, id string) error {
	name := r.node.nodeName()
	if name == "" {
		return errors.New("the machine has no Node yet")
	}
	var have struct {
		Spec struct{ Taints []map[string]any }
	}
	if err := r.Lab.API.Get(ctx, collectionOfNodes+"/"+name, &have); err != nil {
		return err
	}
	taints := slices.DeleteFunc(have.Spec.Taints, func(taint map[string]any) bool { return taint["key"] == uninitialized })
	return r.Lab.API.Merge(ctx, collectionOfNodes+"/"+name, map[string]any{"spec": map[string]any{"providerID": id, "taints": taints}})
}

// resultPath is the path of a machine's provisioning result.
const resultPath = "/var/lib/slipway/provision.json"

// reportArgs describe a machine's result.
type reportArgs struct {
	// Code is the exit code of its provisioning.
	Code string `yaml:"code"`
	// Status passes the status of the machine's last run, instead of the result of its provisioning.
	Status bool `yaml:"status"`
}

// report passes the machine's own report to Karpenter, as a cloud does, as soon as it has the exit code.
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
		// The result has the code as text, the status as a number.
		var result struct{ ExitCode any }
		if err := json.Unmarshal([]byte(text), &result); err != nil || fmt.Sprint(result.ExitCode) != args.Code {
			return fmt.Errorf("the machine says %q, want the exit code %q", text, args.Code)
		}
		r.provisioner.machines.reported(r.provisioner.name, []byte(text))
		return nil
	})
}

// update waits until Karpenter has updated a machine, and gives its metadata service the new user data. The following steps use
// this machine.
func (r *caseRun) update(ctx context.Context, _ struct{}) error {
	request, data, err := r.requested(ctx, r.provisioner.machines.takeUpdate)
	if err != nil {
		return err
	}
	if err := r.turnTo(request.Name); err != nil {
		return err
	}
	r.Lab.CloudOf(r.provisioner.place).SetUserData(data)
	return nil
}
