//go:build crosscheck

package kubelet

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/unitfile"
)

var (
	configurations = flag.Int("configurations", 2000, "how many configurations are compared, of both minors together")
	seed           = flag.Uint64("seed", 1, "what the configurations are drawn from")
	report         = flag.String("report", "", "a file that all groups of disagreements are written to")
)

// versions are the kubelets under test: those of the modules below this directory.
var versions = map[int]string{26: "1.26.15", 37: "1.37.2"}

// machine and question are a module's input (minor37/main.go).
type machine struct {
	CPUs          int   `json:"cpus"`
	NUMANodes     int   `json:"numaNodes"`
	CgroupVersion int   `json:"cgroupVersion"`
	MemoryBytes   int64 `json:"memoryBytes"`
}

type question struct {
	Config              string   `json:"config"`
	Args                []string `json:"args"`
	CredentialProviders string   `json:"credentialProviders,omitempty"`
	Machine             machine  `json:"machine"`
}

type answer struct{ Refused, By string }

// kubelet is a program with the code of one kubelet.
type kubelet struct {
	in  *bufio.Writer
	out *json.Decoder
}

// programs is the directory of the modules' programs, built when the first test needs one.
var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kubelets")
	if err != nil {
		panic(err)
	}
	programs = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// startKubelet starts the program of a minor.
func startKubelet(t *testing.T, minor int) *kubelet {
	program := filepath.Join(programs, strconv.Itoa(minor))
	if _, err := os.Stat(program); err != nil {
		const at = "-X k8s.io/component-base/version." // hidden metrics depend on it
		flags := fmt.Sprintf("-s -w %sgitVersion=v%s %sgitMajor=1 %sgitMinor=%d", at, versions[minor], at, at, minor)
		build := exec.Command("go", "build", "-C", fmt.Sprintf("minor%d", minor), "-ldflags", flags, "-o", program, ".")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	c := exec.Command(program)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &kubelet{bufio.NewWriter(in), json.NewDecoder(bufio.NewReader(out))}
}

// ask gets the answers to questions, in their order.
func (k *kubelet) ask(questions []question) ([]answer, error) {
	sent := make(chan error, 1)
	go func() {
		encoder := json.NewEncoder(k.in)
		for _, q := range questions {
			if err := encoder.Encode(q); err != nil {
				sent <- err
				return
			}
		}
		sent <- k.in.Flush()
	}()
	answers := make([]answer, len(questions))
	for i := range answers {
		if err := k.out.Decode(&answers[i]); err == io.EOF {
			return nil, fmt.Errorf("the program ended at question %d", i)
		} else if err != nil {
			return nil, err
		}
	}
	return answers, <-sent
}

// outcome is the result of a trial.
type outcome struct {
	trial
	fatal []nodeconfig.Problem
	question
	answer
}

// bases are the documents that trials change, by route.
type bases struct {
	text  [5]string
	known facts.Facts
}

func readBases(t *testing.T) *bases {
	b := &bases{}
	for route, name := range []string{"native/minimal.yaml", "aks/kubelet-config-file.json", "eksctl/minimal.yaml", "aks/minimal.json"} {
		data, err := os.ReadFile("../../examples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		b.text[route] = string(data)
	}
	b.text[eks] = b.text[native] + "components: {layout: eks}\ncloud: {provider: aws, aws: {region: eu-west-1}}\n"
	data, err := os.ReadFile("../../examples/facts/ubuntu.json")
	if err == nil {
		err = json.Unmarshal(data, &b.known)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var versionOf = regexp.MustCompile(`"?1\.3\d(\.\d+)?"`)

// document is a trial's contract.
func (b *bases) document(t trial) []byte {
	config, providers, flags := object{}, any(nil), []change(nil)
	for _, c := range t.changes {
		switch {
		case c.flag != "":
			flags = append(flags, c)
		case c.field != "":
			put(config, strings.Split(c.field, "."), c.value)
		default:
			providers = c.value
		}
	}
	text := versionOf.ReplaceAllString(b.text[t.route], strconv.Quote(versions[t.minor]))
	switch t.route {
	case aks, aksFlags:
		text = strings.ReplaceAll(b.text[t.route], `"1.34.2"`, strconv.Quote(versions[t.minor]))
		var document object
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&document); err != nil {
			panic(err)
		}
		for name, value := range config {
			put(document, []string{"kubelet_config", "kubelet_config_file_config", name}, value)
		}
		for _, f := range flags {
			put(document, []string{"kubelet_config", "kubelet_flags", "--" + f.flag}, f.value)
		}
		data, _ := json.Marshal(document)
		return data
	case eksctl:
		text = versionOf.ReplaceAllString(b.text[eksctl], strconv.Quote(versions[t.minor][:4]))
		data, _ := json.Marshal(config)
		return []byte(text + "    kubeletExtraConfig: " + string(data) + "\n")
	}
	k := object{"config": config}
	if providers != nil {
		k["imageCredentialProvider"] = object{"binDir": "/opt/providers", "config": providers}
	}
	var all list
	for _, f := range flags {
		all = append(all, object{"name": f.flag, "value": f.value})
	}
	k["flags"] = all
	data, _ := json.Marshal(k)
	return []byte(text + "kubelet: " + string(data) + "\n")
}

// put sets a value below names.
func put(config object, names []string, value any) {
	if len(names) == 1 {
		config[names[0]] = value
		return
	}
	below, ok := config[names[0]].(object)
	if !ok {
		below = object{}
		config[names[0]] = below
	}
	put(below, names[1:], value)
}

// judge returns Slipway's problems for a trial, and its kubelet's inputs.
func (b *bases) judge(t trial) (*outcome, error) {
	known := b.known
	known.CPUs, known.MemoryBytes, known.CgroupVersion = t.machine.CPUs, t.machine.MemoryBytes, t.machine.CgroupVersion
	known.Components = slices.Clone(known.Components)
	for i, c := range known.Components {
		if c.Name == "kubelet" {
			known.Components[i].Version = versions[t.minor]
		}
	}
	if t.route == eksctl || t.route == eks { // their nodes have settings that only the cloud knows
		known.Components = append(known.Components, components.Component{Name: "aws", Path: "/usr/bin/aws"},
			components.Component{Name: "ecr-credential-provider", Path: "/etc/eks/image-credential-provider/ecr-credential-provider"})
		known.Instance = &facts.Instance{Platform: "ec2", ID: "i-0123456789abcdef0", Hostname: "ip-10-0-0-5.eu-west-1.compute.internal", Type: "m5.large", Zone: "eu-west-1a", Lifecycle: "on-demand"}
	}
	contract := compile.ReadOne("contract", b.document(t))
	p, problems := contract.Plan(known)
	o := &outcome{trial: t, fatal: nodeconfig.Fatal(problems), question: question{Machine: t.machine}}
	argv, _, err := unitfile.Command(p, "kubelet.service")
	if err != nil || len(argv) == 0 {
		return nil, fmt.Errorf("no command line (%v): %v\n%s", err, problems, b.document(t))
	}
	o.question.Args = argv[1:]
	files := make(map[string]string)
	for _, r := range p.Resources {
		if f, ok := r.Spec.(*resource.File); ok {
			files[f.Path] = string(f.Content)
		}
	}
	for _, word := range argv {
		if path, ok := strings.CutPrefix(word, "--config="); ok {
			o.question.Config = files[path]
		}
		if dir, ok := strings.CutPrefix(word, "--config-dir="); ok {
			if o.question.Config, err = withDropIns(o.question.Config, files, dir); err != nil {
				return nil, err
			}
		}
		if path, ok := strings.CutPrefix(word, "--image-credential-provider-config="); ok {
			o.question.CredentialProviders = files[path]
		}
	}
	return o, nil
}

// withDropIns is a configuration with the drop-ins of a directory, merged as a kubelet does (RFC 7386; cmd/kubelet/app/server.go,
// mergeKubeletConfigurations). The configuration itself is decoded as it is, so what is null in it stays.
func withDropIns(config string, files map[string]string, dir string) (string, error) {
	merged, err := decoded(config)
	if err != nil {
		return "", fmt.Errorf("the configuration: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Dir(name) != dir || path.Ext(name) != ".conf" {
			continue
		}
		over, err := decoded(files[name])
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		merged = mergePatch(merged, over)
	}
	data, err := json.Marshal(merged)
	return string(data), err
}

// decoded is a document of JSON, with its numbers as they are written.
func decoded(text string) (value any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// mergePatch is MergePatch of RFC 7386, section 2.
func mergePatch(target, patch any) any {
	fields, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	merged, _ := target.(map[string]any)
	merged = maps.Clone(merged)
	if merged == nil {
		merged = make(map[string]any)
	}
	for name, value := range fields {
		if value == nil {
			delete(merged, name)
		} else {
			merged[name] = mergePatch(merged[name], value)
		}
	}
	return merged
}

// TestUnchanged checks that both accept the unchanged document of each route, so that only a change can be refused.
func TestUnchanged(t *testing.T) {
	b := readBases(t)
	for minor := range versions {
		k := startKubelet(t, minor)
		for route := range b.text {
			one := trial{minor: minor, route: route, machine: machine{CPUs: 4, NUMANodes: 1, CgroupVersion: 2, MemoryBytes: 16 << 30}}
			outcomes, err := b.compare(k, []trial{one})
			if err != nil {
				t.Fatal(err)
			}
			if o := outcomes[0]; o.Refused != "" || len(o.fatal) > 0 {
				t.Errorf("1.%d, way %d: %v; the kubelet: %s: %s", minor, route, o.fatal, o.By, o.Refused)
			}
		}
	}
}

// TestKubeletAgrees compares Slipway's and the kubelet's judgement of many configurations.
func TestKubeletAgrees(t *testing.T) {
	b := readBases(t)
	total := newTally()
	for _, minor := range slices.Sorted(maps.Keys(versions)) {
		k := startKubelet(t, minor)
		g := newGenerator(readTable(t, minor), minor, *seed)
		first, err := g.learn(k)
		if err != nil {
			t.Fatal(err)
		}
		for done := 0; done < *configurations/len(versions); {
			var trials []trial
			for ; len(trials) < 1000 && done < *configurations/len(versions); done++ {
				trials = append(trials, g.trial(done))
			}
			outcomes, err := b.compare(k, trials)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				if err := total.add(b, k, o); err != nil {
					t.Fatal(err)
				}
			}
		}
		// Earlier questions leave nothing behind in the answering process.
		again, err := k.ask(g.asked)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if (again[i].Refused == "") != (first[i].Refused == "") {
				t.Errorf("1.%d answers %+v first, and %+v later, to %+v", minor, first[i], again[i], g.asked[i])
			}
		}
	}
	t.Logf("seed %d: %s", *seed, total)
	if *report != "" {
		if err := os.WriteFile(*report, []byte(fmt.Sprintf("seed %d: %s\n\n%s", *seed, total, total.groups())), 0o600); err != nil {
			t.Error(err)
		}
	}
	if len(total.wrong) > 0 {
		t.Errorf("%d groups of disagreements\n%s", len(total.wrong), total.groups())
	}
	if *configurations >= 100_000 {
		for _, d := range differences {
			if total.known[d.what] == 0 {
				t.Errorf("no configuration needs the row %q any more", d.what)
			}
		}
	}
}

// compare lets both judge trials.
func (b *bases) compare(k *kubelet, trials []trial) ([]*outcome, error) {
	outcomes, failed := make([]*outcome, len(trials)), make([]error, len(trials))
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				outcomes[i], failed[i] = b.judge(trials[i])
			}
		})
	}
	for i := range trials {
		next <- i
	}
	close(next)
	wait.Wait()
	questions := make([]question, len(trials))
	for i, o := range outcomes {
		if failed[i] != nil {
			return nil, failed[i]
		}
		questions[i] = o.question
	}
	answers, err := k.ask(questions)
	if err != nil {
		return nil, err
	}
	for i, o := range outcomes {
		o.answer = answers[i]
	}
	return outcomes, nil
}

// tally counts the results of trials.
type tally struct {
	taken, refused int
	known          map[string]int
	wrong          map[string]*group
}

// group is the disagreements of one kind.
type group struct {
	count    int
	examples []string
}

func newTally() *tally { return &tally{known: make(map[string]int), wrong: make(map[string]*group)} }

func (c *tally) String() string {
	wrong := 0
	for _, g := range c.wrong {
		wrong += g.count
	}
	text := fmt.Sprintf("%d configurations, %d that the kubelet refuses and %d that it takes; %d disagreements of %d kinds", c.taken+c.refused, c.refused, c.taken, wrong, len(c.wrong))
	for _, what := range slices.Sorted(maps.Keys(c.known)) {
		text += fmt.Sprintf("; %d wanted: %s", c.known[what], what)
	}
	return text
}

// kind returns the kind of an outcome's disagreement, or "".
func (c *tally) kind(o *outcome) string {
	if o.Refused != "" {
		if len(o.fatal) > 0 {
			return ""
		}
		return "REFUSED by the kubelet (" + o.By + "), no problem for Slipway: " + general(o.Refused)
	}
	for _, p := range o.fatal {
		at := slices.IndexFunc(differences, func(d difference) bool { return d.problem.MatchString(p.Path + " " + p.Reason) })
		if at < 0 {
			return "TAKEN by the kubelet, an error for Slipway: " + general(p.Path+" "+p.Reason)
		}
		c.known[differences[at].what]++
	}
	return ""
}

var special = regexp.MustCompile(`"[^"]*"|\d+(\.\d+)?`)

// general removes from a reason what differs between configurations.
func general(reason string) string {
	if len(reason) > 300 {
		reason = reason[:300]
	}
	return special.ReplaceAllString(reason, "_")
}

// add counts an outcome. It minimizes the first disagreements of a kind.
func (c *tally) add(b *bases, k *kubelet, o *outcome) error {
	if o.Refused != "" {
		c.refused++
	} else {
		c.taken++
	}
	kind := c.kind(o)
	if kind == "" {
		return nil
	}
	g := c.wrong[kind]
	if g == nil {
		g = &group{}
		c.wrong[kind] = g
	}
	if g.count++; len(g.examples) >= 3 {
		return nil
	}
	for i := 0; i < len(o.changes); {
		less := o.trial
		less.changes = slices.Delete(slices.Clone(o.changes), i, i+1)
		smaller, err := b.compare(k, []trial{less})
		if err != nil {
			return err
		}
		if newTally().kind(smaller[0]) == "" {
			i++
			continue
		}
		o = smaller[0]
	}
	text := fmt.Sprintf("1.%d by %s on %+v: %v", o.minor, []string{"native", "aks", "eksctl", "aks, without a file,", "eks"}[o.route], o.machine, o.changes)
	if o.Refused != "" {
		text += "\n      kubelet: " + o.By + ": " + o.Refused
	}
	for _, p := range o.fatal {
		text += "\n      Slipway: " + p.String()
	}
	g.examples = append(g.examples, text)
	return nil
}

// groups lists all disagreements, the frequent kinds first.
func (c *tally) groups() string {
	var text strings.Builder
	kinds := slices.SortedFunc(maps.Keys(c.wrong), func(a, b string) int {
		if n := c.wrong[b].count - c.wrong[a].count; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for _, kind := range kinds {
		fmt.Fprintf(&text, "%d times %s\n", c.wrong[kind].count, kind)
		for _, example := range c.wrong[kind].examples {
			fmt.Fprintf(&text, "    %s\n", example)
		}
	}
	return text.String()
}

// difference is a row where Slipway intentionally judges differently from the kubelet.
type difference struct {
	what string
	// problem matches Slipway's problem, with its path: Slipway refuses more.
	problem *regexp.Regexp
}

var differences = []difference{
	{
		what:    "eksctl refuses what it sets itself",
		problem: regexp.MustCompile(`is a key that eksctl refuses`),
	},
	{
		what:    "what Slipway gives the kubelet itself has one value",
		problem: regexp.MustCompile(`is Slipway's to give`),
	}, {
		what:    "a kubelet with another control group driver than the runtime's starts, but no pod does",
		problem: regexp.MustCompile(`is not the container runtime's driver`),
	}, {
		what:    "AKS's contract has a type for each field",
		problem: regexp.MustCompile(`^\$\.kubelet_config\..* is (a|an|null)\b.*, want |^\$\.kubelet_config\..*(is out of range for a 32 bit integer|is null; )`),
	}, {
		what:    "the API server accepts the node's name, and other nodes can reach its addresses",
		problem: regexp.MustCompile(`is not a DNS name of lower case letters|is a loopback address|"--node-ip"\]\[\d\] is not an IP address`),
	}, {
		what:    "the configuration of credential providers has an absolute path that is Slipway's to write",
		problem: regexp.MustCompile(`image-credential-provider.*((must be|is not) an absolute path|must be a path without|must be below one of|is reserved for)`),
	}, {
		what:    "Slipway can create the control group of a reservation",
		problem: regexp.MustCompile(`must be (a slice of systemd's|/kubereserved\.slice|/system\.slice)|is the control group of|needs control groups of version 2`),
	},
}
