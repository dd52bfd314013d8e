package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

const (
	// nodesPath is the path of Nodes, and maxNode limits one: it lists the node's images.
	nodesPath = "/api/v1/nodes/"
	maxNode   = 4 << 20
	// freeNamePatience limits the server's answer. Without an answer the node still joins.
	freeNamePatience = 3 * time.Second
)

// systemUUID is this machine's UUID, or "".
func systemUUID(files *rootfs.Tree) string { return facts.SystemUUID(files.ReadFile) }

// probeFreeName waits until no other Ready machine has the Node's name, as kubeadm join requires (k8s.io/kubernetes
// v1.36.3 cmd/kubeadm/app/cmd/phases/join/kubelet.go). In contrast to kubeadm, this machine may have the name, also
// with a new disk. If a cluster does not show the Node, or does not answer, the node still joins.
func (p *prober) probeFreeName(ctx context.Context, wanted *resource.FreeName, read func(path string) ([]byte, error), uuid string) error {
	name, err := nameOr(wanted.Node, hostName)
	if err != nil || name == localName || uuid == "" {
		return nil // this machine's UUID is unknown
	}
	taken := false
	t, q, err := p.asNode(&wanted.AsNode, read, nodesPath+name, maxNode, func(t *target, a answer, address netip.AddrPort) *failure {
		var node struct {
			Kind   string
			Status struct {
				Conditions []struct{ Type, Status string }
				NodeInfo   struct{ SystemUUID string }
			}
		}
		taken = false
		if a.status != http.StatusOK || json.Unmarshal(a.body, &node) != nil || node.Kind != "Node" {
			return nil
		}
		other := node.Status.NodeInfo.SystemUUID
		if other == "" || strings.EqualFold(other, uuid) {
			return nil
		}
		for _, c := range node.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" {
				taken = true
				return t.failed(asking, resource.CauseForeign, address, fmt.Errorf("the cluster has a Node %s that is Ready and of another machine: its systemUUID is %s, and this machine's is %s",
					name, redact.Line(other, 64), redact.Line(uuid, 64)))
			}
		}
		return nil
	})
	if err != nil {
		return nil // the check of the API server reports the problem
	}
	asked := *p
	asked.attemptTimeout = min(p.attemptTimeout, freeNamePatience)
	wait := &patience{answer: freeNamePatience, now: p.now, awaited: p.now()}
	err = asked.repeat(ctx, func(ctx context.Context) *failure {
		begin := p.now()
		f := q.attempt(ctx, &asked, t)
		wait.tried(begin, f)
		if f != nil && f.Cause != resource.CauseForeign && !taken && (!f.retry || wait.over()) {
			return nil
		}
		return f
	}, poll.Sleep)
	if !taken {
		return nil
	}
	return err
}
