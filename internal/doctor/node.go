package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/redact"
)

// nodeChecks are those of the Node object.
var nodeChecks = []Check{{
	Name: "node-owner", Asks: "Is the Node with this machine's name this machine's?", Needs: []string{"credential"}, Live: true,
	Causes: []Cause{
		{"foreign", "another machine has the same name", "give one of the machines another name, or, if the other machine is gone, delete its Node (`kubectl delete node NAME`)"},
	},
	Look: lookOwner,
}, {
	Name: "node", Asks: "Does the cluster have this machine's Node, and is it Ready?", Live: true,
	Needs: []string{"node-owner", "certificate-request", "runtime-ready", "kubelet-health", "network-plugin", "network-programs"},
	Causes: []Cause{
		{"missing", "the kubelet runs, and the cluster has no Node for it", "restart the kubelet (`systemctl restart kubelet`): it registers its Node only when it starts, so a deleted Node does not come back before; look who deletes Nodes, as a cloud controller does if it does not find the machine"},
		{"not-ready", "the kubelet reports that it is not ready", "follow the reason in the condition; the checks of the runtime, the network plug-in and the kubelet name the causes that this machine shows"},
		{"no-report", "the kubelet does not report", "look at the kubelet's log (`journalctl -u kubelet`): it runs, and its reports do not arrive"},
	},
	Look: lookNode,
}, {
	Name: "start-up-taints", Asks: "Have the components that wait for a new Node removed their taints?", Needs: []string{"node"}, Live: true,
	Causes: []Cause{
		{"stands", "a component has not removed its start-up taint", "look at the component's pod or controller: it has not finished its work on this Node"},
	},
	Look: lookTaints,
}}

// node is the used part of a Node.
type node struct {
	Kind     string
	Metadata struct {
		Name              string
		CreationTimestamp time.Time
	}
	Spec struct {
		ProviderID    string
		Unschedulable bool
		Taints        []struct {
			Key, Value, Effect string
			TimeAdded          time.Time
		}
	}
	Status struct {
		Conditions []condition
		Addresses  []struct{ Type, Address string }
		NodeInfo   struct{ MachineID, SystemUUID, KubeletVersion string }
	}
}

type condition struct {
	Type, Status, Reason, Message string
	LastTransitionTime            time.Time
}

// readNode is the Node in the API server's answer. Without a Node, the finding says why.
func readNode(p *Patient) (*node, *Finding) {
	answer := p.known.own.answer.Load()
	name := p.Kubelet().Node.Value
	switch {
	case answer == nil:
		return nil, skipped("this machine has no credential to ask with")
	case answer.outcome.Failed != "":
		return nil, unknown("the API server did not answer the question for the Node")
	}
	switch o := answer.outcome; o.Status {
	case http.StatusOK:
		n, err := parseNode(o.Body)
		if err != nil {
			return nil, unknown("the answer for the Node %s is no Node", name)
		}
		return n, nil
	case http.StatusNotFound:
		return nil, &Finding{State: Wrong, Cause: "missing"}
	case http.StatusForbidden:
		return nil, skipped("%s may not read the Node %s", answer.credential.what, name)
	default:
		return nil, unknown("the API server answers the question for the Node %s with HTTP status %d", name, o.Status)
	}
}

var errNoNode = errors.New("is no Node")

func parseNode(body []byte) (*node, error) {
	n := new(node)
	if err := json.Unmarshal(body, n); err != nil {
		return nil, err
	}
	if n.Kind != "Node" {
		return nil, errNoNode
	}
	return n, nil
}

//go:noinline
func shownName(name string) string { return redact.Line(name, 120) }

func lookOwner(_ context.Context, p *Patient) *Finding {
	n, f := readNode(p)
	if f.is("missing") {
		return fine("the cluster has no Node %s", p.Kubelet().Node.Value)
	}
	if n == nil {
		return f
	}
	uuid, other := facts.SystemUUID(p.Machine.ReadFile), n.Status.NodeInfo.SystemUUID
	if uuid == "" || other == "" || strings.EqualFold(uuid, other) {
		return fine("the Node %s is this machine's", shownName(n.Metadata.Name))
	}
	var addresses []string
	for _, a := range n.Status.Addresses {
		if a.Type == "InternalIP" || a.Type == "ExternalIP" {
			addresses = append(addresses, a.Address)
		}
	}
	slices.Sort(addresses)
	return wrong("foreign", "the Node %s is of another machine (%s): its systemUUID is %s, and this machine's is %s",
		shownName(n.Metadata.Name), redact.Line(strings.Join(addresses, ", "), 80), redact.Line(other, 64), redact.Line(uuid, 64)).with("providerID of the Node", shownName(n.Spec.ProviderID))
}

// registrationPatience is how long a kubelet may take from its start until its Node exists.
const registrationPatience = 30 * time.Second

func lookNode(_ context.Context, p *Patient) *Finding {
	n, f := readNode(p)
	k := p.Kubelet()
	switch {
	case f.is("missing") && k.PID == 0:
		return fine("the cluster has no Node %s, and no kubelet runs that would register it", k.Node.Value)
	case f.is("missing"):
		age, known := uptime(p.Machine, k.PID)
		if known && age < p.Patience(registrationPatience) {
			return undecided("the cluster has no Node %s yet, and the kubelet runs only for %s", k.Node.Value, age.Round(time.Second))
		}
		return wrong("missing", "the cluster has no Node %s (HTTP status 404), although the kubelet runs (process %d)", k.Node.Value, k.PID)
	case n == nil:
		return f
	}
	f = n.shown()
	for _, c := range n.Status.Conditions {
		if c.Type != "Ready" {
			continue
		}
		why := redact.Line(fmt.Sprintf("%s: %s", c.Reason, c.Message), 300)
		switch c.Status {
		case "True":
			return f.fine("the Node %s is Ready since %s", shownName(n.Metadata.Name), stamp(c.LastTransitionTime))
		case "False":
			return f.wrong("not-ready", "the Node %s is not Ready since %s: %s", shownName(n.Metadata.Name), stamp(c.LastTransitionTime), why)
		}
		return f.wrong("no-report", "the kubelet of the Node %s does not report since %s: %s", shownName(n.Metadata.Name), stamp(c.LastTransitionTime), why)
	}
	if k.PID == 0 {
		return f.fine("the Node %s has no report of a kubelet, and no kubelet runs", shownName(n.Metadata.Name))
	}
	return f.wrong("no-report", "the Node %s has no condition Ready: its kubelet has never reported", shownName(n.Metadata.Name))
}

// maxShown limits the conditions and taints in the evidence.
const maxShown = 20

// shown is a finding with the Node as evidence.
func (n *node) shown() *Finding {
	f := new(Finding)
	for _, c := range n.Status.Conditions[:min(len(n.Status.Conditions), maxShown)] {
		f.with("condition "+shownName(c.Type), redact.Line(fmt.Sprintf("%s since %s: %s: %s", c.Status, stamp(c.LastTransitionTime), c.Reason, c.Message), 300))
	}
	for _, t := range n.Spec.Taints[:min(len(n.Spec.Taints), maxShown)] {
		f.with("taint", redact.Line(t.Key+"="+t.Value+":"+t.Effect, 200))
	}
	if n.Spec.Unschedulable {
		f.with("the Node is cordoned", "an administrator or a controller lets no new pod start on it")
	}
	return f
}

// ticks is the unit of a process' start time (proc_pid_stat(5): sysconf(_SC_CLK_TCK), which is 100 on all nodes).
const ticks = time.Second / 100

// uptime is how long a process has run.
func uptime(files Files, pid int) (age time.Duration, known bool) {
	stat, err := files.ReadFile("/proc/"+strconv.Itoa(pid)+"/stat", 4<<10)
	if err != nil {
		return 0, false
	}
	machine, err := files.ReadFile("/proc/uptime", 4<<10)
	if err != nil {
		return 0, false
	}
	return parseUptime(string(stat), string(machine))
}

// parseUptime reads the times of proc_pid_stat(5), field 22, and proc_uptime(5).
func parseUptime(stat, machine string) (age time.Duration, known bool) {
	after := stat[strings.LastIndexByte(stat, ')')+1:] // the program's name can have spaces
	fields, words := strings.Fields(after), strings.Fields(machine)
	if len(fields) < 20 || len(words) == 0 {
		return 0, false
	}
	start, err := strconv.ParseUint(fields[19], 10, 40)
	if err != nil {
		return 0, false
	}
	now, err := strconv.ParseFloat(words[0], 64)
	if err != nil || now < 0 || now > 1e9 {
		return 0, false
	}
	return max(time.Duration(now*float64(time.Second))-time.Duration(start)*ticks, 0), true
}

// taintPatience is how long a start-up taint may stand on a Ready Node.
const taintPatience = 2 * time.Minute

// startUpTaint is a taint that a component removes when it has done its work on a new Node.
type startUpTaint struct {
	key    string
	by     string
	source string
}

// startUpTaints are the known ones. Taints by which pods choose Nodes, such as those of control planes, are not here.
var startUpTaints = []startUpTaint{
	{"node.cloudprovider.kubernetes.io/uninitialized", "the cloud's cloud-controller-manager", "Kubernetes docs, Cloud Controller Manager Administration"},
	{"node.kubernetes.io/network-unavailable", "the cloud's route controller or the network plug-in, when the Node has its network", "Kubernetes docs, Taints and Tolerations"},
	{"node.cilium.io/agent-not-ready", "Cilium's operator, when the agent on this Node is ready", "Cilium docs, Taint Effects"},
	{"cni.istio.io/not-ready", "Istio's istiod, when the pod of istio-cni on this Node is ready", "istio: pilot/pkg/serviceregistry/kube/controller/ambient, nodeUntainter"},
	{"ebs.csi.aws.com/agent-not-ready", "the node pod of the Amazon EBS CSI driver", "aws-ebs-csi-driver: docs/install.md"},
	{"efs.csi.aws.com/agent-not-ready", "the node pod of the Amazon EFS CSI driver", "aws-efs-csi-driver: removeNotReadyTaint"},
	{"fsx.csi.aws.com/agent-not-ready", "the node pod of the Amazon FSx CSI driver", "aws-fsx-csi-driver: docs/install.md"},
	{"s3.csi.aws.com/agent-not-ready", "the node pod of the Mountpoint for Amazon S3 CSI driver", "mountpoint-s3-csi-driver: docs"},
	{"disk.csi.azure.com/agent-not-ready", "the node pod of the Azure Disk CSI driver", "azuredisk-csi-driver: removeNotReadyTaint"},
	{"azurelustre.csi.azure.com/agent-not-ready", "the node pod of the Azure Lustre CSI driver", "azurelustre-csi-driver: docs, startup taints"},
	{"karpenter.sh/unregistered", "Karpenter, when it has matched the Node with its claim", "Karpenter docs, NodeClaims"},
	{"node.cluster.x-k8s.io/uninitialized", "Cluster API's controller of Machines", "Cluster API book, bootstrap providers"},
}

func lookTaints(_ context.Context, p *Patient) *Finding {
	n, f := readNode(p)
	switch {
	case f.is("missing"):
		return fine("the cluster has no Node yet")
	case n == nil:
		return f
	}
	var stand, young []string
	for _, t := range n.Spec.Taints {
		for _, known := range startUpTaints {
			if t.Key != known.key {
				continue
			}
			since := n.Metadata.CreationTimestamp
			if t.TimeAdded.After(since) {
				since = t.TimeAdded
			}
			text := fmt.Sprintf("%s since %s, which %s removes", t.Key, stamp(since), known.by)
			if p.Now().Sub(since) > p.Patience(taintPatience) {
				stand = append(stand, text)
			} else {
				young = append(young, text)
			}
		}
	}
	switch {
	case len(stand) > 0:
		return wrong("stands", "a start-up taint keeps pods away: %s", strings.Join(stand, "; "))
	case len(young) > 0:
		return fine("the Node is new, and waits: %s", strings.Join(young, "; "))
	}
	return fine("the Node has no start-up taint")
}
