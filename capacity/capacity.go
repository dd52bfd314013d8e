package capacity

import "strconv"

// Node is the capacity of a node.
type Node struct {
	// MaxPods is the number of pods that it can run.
	MaxPods int `json:"maxPods"`
	// KubeReserved is reserved for the system: "cpu", "memory", "ephemeral-storage", in the kubelet's format (kubeReserved).
	KubeReserved map[string]string `json:"kubeReserved"`
	// EvictionHard are the thresholds below which pods are evicted, by signal (evictionHard).
	EvictionHard map[string]string `json:"evictionHard"`
	// Derivation is the calculation of each number, in the order of the numbers above.
	Derivation []Step `json:"derivation"`
}

// Step is the calculation of one number.
type Step struct {
	// Name is the number's name: "maxPods", "kubeReserved.cpu", "evictionHard.memory.available".
	Name string `json:"name"`
	// Value is the number, in the kubelet's format.
	Value string `json:"value"`
	// How is the calculation, with its numbers.
	How string `json:"how"`
	// Source is the rule's source.
	Source string `json:"source"`
}

// The names of the numbers: fields of the kubelet's configuration, with the kubelet's names of resources and signals.
const (
	kubeReserved     = "kubeReserved."
	evictionHard     = "evictionHard."
	maxPods          = "maxPods"
	cpu              = kubeReserved + "cpu"
	memory           = kubeReserved + "memory"
	ephemeralStorage = kubeReserved + "ephemeral-storage"
	memoryAvailable  = evictionHard + "memory.available"
	nodefsAvailable  = evictionHard + "nodefs.available"
	nodefsInodesFree = evictionHard + "nodefs.inodesFree"
)

// mostSteps is the usual number of steps: a scheduler computes many nodes.
const mostSteps = 7

func newNode() *Node {
	return &Node{KubeReserved: make(map[string]string), EvictionHard: make(map[string]string), Derivation: make([]Step, 0, mostSteps)}
}

// pods sets the number of pods.
func (n *Node) pods(count int, how, source string) {
	n.MaxPods = count
	n.Derivation = append(n.Derivation, Step{maxPods, strconv.Itoa(count), how, source})
}

func (n *Node) reserve(name, value, how, source string) {
	n.KubeReserved[name[len(kubeReserved):]] = value
	n.Derivation = append(n.Derivation, Step{name, value, how, source})
}

func (n *Node) evict(name, value, how, source string) {
	n.EvictionHard[name[len(evictionHard):]] = value
	n.Derivation = append(n.Derivation, Step{name, value, how, source})
}

// band is a part of a machine with its own reserved share.
type band struct {
	// width is the size of the part. 0 means all the rest.
	width int64
	// share is in hundredths of a percent; percent is the same as text.
	share   int64
	percent string
}

// reserved adds up the shares of an amount, and describes the calculation. If each is true, each share is rounded down, else the
// sum is.
func reserved(amount int64, bands []band, unit string, each bool) (total int64, how string) {
	const whole = 10000
	text := make([]byte, 0, 96)
	for i, b := range bands {
		part := amount
		if b.width > 0 {
			part = min(amount, b.width)
		}
		if part <= 0 {
			break
		}
		kept := part * b.share
		if each {
			kept -= kept % whole
		}
		total += kept
		if i > 0 {
			text = append(text, " + "...)
		}
		text = append(append(text, b.percent...), " % of "...)
		text = append(strconv.AppendInt(text, part, 10), unit...)
		amount -= part
	}
	return total / whole, string(text)
}

// podMemory describes the reserved memory: an amount for each pod, and a base, in MiB.
func podMemory(each, pods, base int) string {
	return strconv.Itoa(each) + " Mi × " + strconv.Itoa(pods) + " pods + " + strconv.Itoa(base) + " Mi"
}
