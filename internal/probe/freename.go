package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

const (
	// nodesPath is where Nodes are, and maxNode bounds one: it lists the images that it has.
	nodesPath = "/api/v1/nodes/"
	maxNode   = 4 << 20
	// maxAttribute is the size that the kernel gives each of its own files, a page.
	maxAttribute = 4 << 10
	// freeNamePatience is how long a server may take to answer. One that does not answer keeps no node from joining.
	freeNamePatience = 3 * time.Second
)

// uuidFiles are where a kubelet reads the systemUUID that its Node shows, the first that is there (github.com/google/cadvisor,
// utils/sysfs/sysfs.go, GetSystemUUID).
var uuidFiles = []string{
	"/sys/class/dmi/id/product_uuid",
	"/proc/device-tree/system-id",
	"/proc/device-tree/vm,uuid",
	"/etc/machine-id",
}

// systemUUID is this machine's; empty if it has none.
func systemUUID(files *rootfs.Tree) string {
	for _, path := range uuidFiles {
		if data, err := files.ReadFile(path, maxAttribute); err == nil {
			return strings.TrimSpace(strings.TrimRight(string(data), "\x00"))
		}
	}
	return ""
}

// probeFreeName waits until no other machine that is Ready has a Node's name, as kubeadm join wants it (k8s.io/kubernetes v1.36.3
// cmd/kubeadm/app/cmd/phases/join/kubelet.go). Unlike there, this machine itself may have it, also after its disk was made again. A
// cluster that does not show the Node, or does not answer, is no reason not to join.
func (p *prober) probeFreeName(ctx context.Context, wanted *resource.FreeName, read func(path string) ([]byte, error), uuid string) error {
	name, err := nameOr(wanted.Node, hostName)
	if err != nil || name == localName || uuid == "" {
		return nil // it is not known who this is
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
		return nil // the check of the API server says what is wrong with it
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
