package karpenter

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// mostKept is how many launches, and how many comparisons, a class keeps. The claims of a pool have few different ones.
const mostKept = 4096

// rendered is a launch with what prevents its node: fatal problems, and what its image lacks.
type rendered struct {
	launch  *launch.Launch
	fatal   []nodeconfig.Problem
	lacking func() []nodeconfig.Problem
}

// wanted is what the claim's node would be made from now. It is nil if that is unknown, with or without an error.
func (p *Provider) wanted(ctx context.Context, claim *v1.NodeClaim) (*rendered, error) {
	c, err := p.readyClass(ctx, claim.Spec.NodeClassRef)
	if err != nil {
		return nil, unlessRefused(err)
	}
	pool, err := p.pool(ctx, claim)
	if err != nil {
		return nil, err
	}
	t := c.inputs.instanceType(claim.Labels[corev1.LabelInstanceTypeStable])
	if t == nil {
		return nil, nil // the core has its own drift reason for this
	}
	key := requestKey(claim, pool)
	r := c.kept(key)
	if r == nil {
		if r, err = c.wanted(claim, pool, t); err != nil {
			return nil, unlessRefused(err)
		}
		r.lacking = sync.OnceValue(func() []nodeconfig.Problem { return p.lacking(c, r.launch) })
		c.keep(key, r)
	}
	if len(r.fatal) > 0 {
		p.impossible(claim, r.fatal)
		return nil, nil
	}
	return r, nil
}

// wanted renders what a claim's node would be made from now.
func (c *class) wanted(claim *v1.NodeClaim, pool *v1.NodePool, t *launch.InstanceType) (*rendered, error) {
	object, poolObject, err := objectsOf(claim, pool)
	if err != nil {
		return nil, err
	}
	for _, label := range new(azure.Input).Labels() {
		if label != v1.CapacityTypeLabelKey && label != corev1.LabelTopologyZone { // these two labels record the choice; the others follow from it
			delete(object.Metadata.Labels, label)
		}
	}
	made := c.render(t, requestOf(object, poolObject, nil))
	return &rendered{launch: made, fatal: nodeconfig.Fatal(made.Problems())}, nil
}

// digest identifies the inputs of a launch or a comparison.
type digest [sha256.Size]byte

// requestKey hashes all of a claim and its pool that a launch depends on. The API server accepts no zero byte in any of it.
func requestKey(claim *v1.NodeClaim, pool *v1.NodePool) digest {
	var room [4 << 10]byte
	key := room[:0]
	add := func(texts ...string) {
		for _, text := range texts {
			key = append(append(key, text...), 0)
		}
	}
	names := slices.AppendSeq(make([]string, 0, len(claim.Labels)+len(claim.Annotations)), maps.Keys(claim.Labels))
	slices.Sort(names)
	for _, name := range names {
		add(name, claim.Labels[name])
	}
	names = slices.AppendSeq(names[:0], maps.Keys(claim.Annotations))
	slices.Sort(names)
	for _, name := range names {
		if !slices.Contains(ownAnnotations, name) {
			add("annotation", name)
		}
	}
	for i, taints := range [][]corev1.Taint{claim.Spec.Taints, claim.Spec.StartupTaints} {
		for _, t := range taints {
			add("taint", strconv.Itoa(i), t.Key, t.Value, string(t.Effect))
		}
	}
	for i := range claim.Spec.Requirements {
		r := &claim.Spec.Requirements[i]
		add("requirement", r.Key, string(r.Operator))
		add(r.Values...)
	}
	if ref := claim.Spec.NodeClassRef; ref != nil {
		add("class", ref.Group, ref.Kind, ref.Name)
	}
	if pool != nil {
		add("pool", string(pool.UID), strconv.FormatInt(pool.Generation, 10))
	}
	return sha256.Sum256(key)
}

// kept returns the cached launch of a key, or nil.
func (c *class) kept(key digest) *rendered {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.launches[key]
}

// keep caches the launch of a key.
func (c *class) keep(key digest, r *rendered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.launches) >= mostKept || c.launches == nil {
		c.launches = make(map[digest]*rendered)
	}
	c.launches[key] = r
}

// compare compares a claim's record with a launch. Most claims of a pool have the same record.
func (p *Provider) compare(text string, wanted *launch.Launch) (*launch.Comparison, error) {
	key := digest(sha256.Sum256([]byte(wanted.Key() + " " + text)))
	p.mu.Lock()
	known := p.compared[key]
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	record, err := launch.ParseRecord([]byte(text))
	if err != nil {
		return nil, err
	}
	compared, err := launch.Compare(record, wanted)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.compared) >= mostKept {
		clear(p.compared)
	}
	p.compared[key] = compared
	return compared, nil
}

// pool returns the claim's pool. It is nil for a claim without one, and for a pool that is gone: the claim has all properties of
// its node, and the core handles a missing pool.
func (p *Provider) pool(ctx context.Context, claim *v1.NodeClaim) (*v1.NodePool, error) {
	name := claim.Labels[v1.NodePoolLabelKey]
	if name == "" {
		return nil, nil
	}
	pool := new(v1.NodePool)
	switch err := p.client.Get(ctx, types.NamespacedName{Name: name}, pool); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the NodePool %s: %w", name, err)
	}
	return pool, nil
}

// objectsOf converts a claim and its pool for package launch.
func objectsOf(claim *v1.NodeClaim, pool *v1.NodePool) (*launch.NodeClaim, *launch.NodePool, error) {
	object, problems := claimOf(claim)
	for _, name := range ownAnnotations { // these annotations do not belong to the node
		delete(object.Metadata.Annotations, name)
	}
	var poolObject *launch.NodePool
	if pool != nil {
		var more []nodeconfig.Problem
		poolObject, more = poolOf(pool)
		problems = append(problems, more...)
	}
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		return nil, nil, refusedFor(fatal)
	}
	return object, poolObject, nil
}
