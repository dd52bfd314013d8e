package docs

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// reader follows a document in a directory with a reader's files: the examples, both programs, and README's node.yaml. The machine
// is a directory, too, to which a contract was delivered.
type reader struct {
	t     *testing.T
	dir   string
	where string
	used  *usage
	edits int
	walk  walk
}

func newReader(t *testing.T, name string, used *usage) *reader {
	r := &reader{t: t, dir: t.TempDir(), where: name, used: used}
	for _, dir := range []string{"examples", "dist"} {
		if err := os.CopyFS(filepath.Join(r.dir, dir), os.DirFS(filepath.Join(repo, dir))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(bin, filepath.Join(r.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	return r
}

// readsHelp writes the files in the examples of a program's help.
func (r *reader) readsHelp() {
	r.copyExamples(helpFiles)
	for file, text := range helpParts {
		r.write(file, text)
	}
}

// copyExamples writes examples of the repository under other names.
func (r *reader) copyExamples(files map[string]string) {
	for file, example := range files {
		data, err := os.ReadFile(filepath.Join(repo, "examples", example))
		if err != nil {
			r.t.Fatal(err)
		}
		r.write(file, string(data))
	}
}

// deliveredContract is the contract that was delivered to the machine.
const deliveredContract = "machine/etc/slipway/config.yaml"

// helpFiles are the files in the examples of a program's help, each with the repository's example for it. A document has
// no such table: its reader has the examples, README's node.yaml, and what the document saves, copies or writes.
var helpFiles = map[string]string{
	"node.yaml":            "native/full.yaml",
	deliveredContract:      "native/full.yaml",
	"flatcar.yaml":         "native/minimal.yaml",
	"old.yaml":             "native/minimal.yaml",
	"new.yaml":             "native/full.yaml",
	"pool.yaml":            "native/minimal.yaml",
	"aks.json":             "aks/azure-cni.json",
	"cluster.yaml":         "eksctl/minimal.yaml",
	"cluster.json":         "facts/cluster.json",
	"facts.json":           "facts/ubuntu.json",
	"settings.yaml":        "launch/settings.yaml",
	"nodepool.yaml":        "launch/nodepool.yaml",
	"nodeclass.yaml":       "launch/nodeclass.yaml",
	"nodeclaim.yaml":       "launch/nodeclaim.yaml",
	"detected.yaml":        "launch/detected.yaml",
	"images.yaml":          "launch/images.yaml",
	"skus.json":            "launch/skus.json",
	"components.json":      "launch/components.json",
	"old.json":             "launch/components.json",
	"join.txt":             "kubeadm/join.txt",
	"bootstrap.kubeconfig": "kubeadm/kubeconfig.yaml",
}

// helpParts are the other files in the examples of a program's help.
var helpParts = map[string]string{
	"setup.sh":            "#!/bin/sh\n",
	"users.yaml":          "#cloud-config\nusers: [default]\n",
	"token":               "abcdef.0123456789abcdef\n",
	"kubelet-config.yaml": kubeletConfigMap,
}

// kubeletConfigMap is kubectl's output of kubeadm's ConfigMap.
const kubeletConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kubelet-config, namespace: kube-system}\ndata:\n  kubelet: |\n" +
	"    apiVersion: kubelet.config.k8s.io/v1beta1\n    kind: KubeletConfiguration\n    clusterDNS: [10.96.0.10]\n"

// lockDirectory makes a lock of components that are in a directory.
const lockDirectory = "slipway image lock -f examples/image/trixie/directory.yaml --lock components.lock --cache cache"

// baked makes the tree of an image from that lock.
const baked = lockDirectory + " && mkdir -p image/usr/lib/systemd && touch image/usr/lib/systemd/systemd && slipway image bake --root image --cache cache --architecture amd64"

// configured shows the configuration of an image of that lock.
const configured = lockDirectory + " && slipway image build --print --architecture amd64"

// special are the lines that cannot run unchanged.
var special = []struct {
	line string
	// instead is what runs. Empty means that the line is not run.
	instead string
	// code is the expected exit code.
	code   int
	reason string
}{
	{line: "kubectl -n kube-system get configmap kubelet-config -o yaml >kubelet-config.yaml",
		instead: "echo '" + kubeletConfigMap + "' >kubelet-config.yaml", reason: "needs a cluster"},
	{line: "slipway-node provision --root image --provision-config base.yaml",
		instead: "mkdir -p image/opt/slipway && sed s/1.34.2/1.36.3/ examples/launch/components.json >image/opt/slipway/components.json && slipway-node provision --root image --provision-config base.yaml",
		reason:  "the image has the programs of a node"},
	{line: "export PATH=$PATH:/opt/slipway/bin", reason: "is for the shell of the lab's node"},
	{line: "slipway-node reset --yes",
		instead: "slipway-node provision --provision-config node.yaml && slipway-node reset --yes", reason: "there is a node before"},
	{line: "slipway-node provision --source azure-imds --dry-run", reason: "needs Azure's metadata service"},
	{line: "slipway-node watch", instead: "slipway-node watch --once --metrics-socket ''", reason: "does not end"},
	{line: "slipway-node watch --metadata azure --drift report", reason: "needs Azure's metadata service"},
	{line: "slipway-node local-dns --coredns /opt/bin/coredns --corefile /etc/localdns/corefile", reason: "changes the machine's DNS"},
	{line: "cd adapters/azure && go build ./cmd/slipway-azure-detect", reason: "is another module's, whose tests run the program"},
	{line: "slipway-azure-detect cluster --subscription ID --resource-group example-rg --name example --out detected.json", reason: "needs Azure"},
	{line: "slipway-azure-detect images --subscription ID --location eastus --out images.json", reason: "needs Azure"},
	{line: "slipway-azure-detect cluster --kubeconfig ~/.kube/config --out detected.json", reason: "needs a cluster"},
	{line: "slipway-azure-detect cluster --subscription ID --resource-group example-rg --name example --settings --out settings.json", reason: "needs Azure"},
	{line: "slipway anatomy boot.json cluster.json", instead: "slipway anatomy boot.json", reason: "needs a cluster"},
	{line: "slipway anatomy boot.json --kubeconfig ~/.kube/config", reason: "needs a cluster"},
	{line: "slipway-node eks-token --cluster-name prod --region eu-west-1", reason: "needs EC2's metadata service"},
	{line: "slipway-node local-dns --stop", reason: "changes the machine's DNS"},
	{line: "slipway-node provision --provision-config /etc/slipway/config.yaml --dry-run",
		instead: "slipway-node provision --provision-config machine/etc/slipway/config.yaml --dry-run", reason: "the machine is a directory"},
	{line: "slipway image lock", instead: lockDirectory, reason: "needs the internet"},
	{line: "slipway image lock --update kubelet=1.36.4", instead: lockDirectory + " --update motd=1.0", reason: "needs the internet"},
	{line: "slipway image diff old.lock components.lock", instead: lockDirectory + " && slipway image diff components.lock components.lock", reason: "there is a lock before"},
	{line: "slipway image fetch", instead: lockDirectory + " && slipway image fetch --cache cache --lock components.lock --from cache", reason: "there is a lock before"},
	{line: "slipway image bake --root image --architecture amd64",
		instead: baked, reason: "needs the internet"},
	{line: "slipway image build", instead: configured, reason: "takes minutes, and a mirror of Debian"},
	{line: "slipway image build --manifest-signature node.sig", instead: "touch node.sig && " + configured + " --manifest-signature node.sig", reason: "takes minutes, and a mirror of Debian"},
	{line: "mv image/components/opt/slipway/components.json.sig node.sig", reason: "the image is not built"},
	{line: `slipway-node verify --sha256 "$(sha256sum <components.json | cut -d' ' -f1)"`, reason: "needs a machine"},
	{line: "slipway-node verify", reason: "needs a machine"},
	{line: "slipway-node verify --signers allowed_signers -o json", reason: "needs a machine"},
	{line: "slipway image verify --rebuild image/output/node.raw", reason: "takes minutes, and a mirror of Debian"},
	{line: "slipway image build --print", instead: configured, reason: "needs the internet"},
	{line: "slipway image build --format vhd --architecture amd64", instead: configured + " --format vhd", reason: "takes minutes, and a mirror of Debian"},
	{line: "slipway image build --architecture arm64 --format qcow2", instead: lockDirectory + " && slipway image build --print --architecture arm64 --format qcow2", reason: "takes minutes, an emulator, and a mirror of Debian"},
	{line: "apt-get install qemu-user-static", reason: "changes the machine"},
	{line: "mount -t binfmt_misc none /proc/sys/fs/binfmt_misc", reason: "changes the machine"},
	{line: "slipway image build --format qcow2 --format vhd --kubernetes 1.36", instead: configured + " --format qcow2 --format vhd", reason: "the lock of the test has no kubelet"},
	{line: "slipway image build --secure-boot-key db.key --secure-boot-certificate db.crt --format vhd",
		instead: "touch db.key db.crt && " + configured + " --secure-boot-key db.key --secure-boot-certificate db.crt", reason: "takes minutes, and a mirror of Debian"},
	{line: "tar -C /opt/slipway/images -cf - . | ctr --namespace k8s.io images import -", reason: "needs containerd"},
	{line: "slipway image can -f node.yaml components.json", instead: "slipway image can -f examples/aks/minimal.json components.json", reason: "the manifest is of an image for AKS"},
	{line: "slipway image check image",
		instead: "mkdir -p image/etc image/usr/lib && touch image/etc/machine-id image/usr/lib/os-release && slipway image check image", reason: "there is an image before"},
	{line: "slipway image verify image", instead: baked + " && slipway image verify image", reason: "there is an image before"},
	{line: "slipway image verify --lock components.lock image", instead: baked + " && slipway image verify --lock components.lock image", reason: "there is an image before"},
	{line: "slipway image verify --signers allowed_signers image/output/node.raw", instead: "slipway image verify --help", reason: "there is a disk before"},
	{line: "slipway verify-release release --signers allowed_signers --version v0.1.0", reason: "needs a release"},
	{line: "slipway verify-release release --signers allowed_signers", reason: "needs a release"},
	{line: "slipway verify-release release --signers allowed_signers --version v0.1.0 -o json", reason: "needs a release"},
	{line: "slipway verify-release https://example.com/slipway/v0.1.0 --signers allowed_signers --out release", reason: "needs a release"},
	{line: "slipway image bake --here", instead: "slipway image bake --help", reason: "it changes the machine"},
	{line: "slipway image fetch --offline --from /media/usb/cache",
		instead: lockDirectory + " && slipway image fetch --offline --from cache --cache other", reason: "there is a cache before"},
	{line: "slipway diff old.yaml new.yaml", instead: "slipway diff old.yaml new.yaml", code: 1, reason: "they differ"},
	{line: "slipway diff     examples/aks/azure-cni.json examples/aks/kubenet.json",
		instead: "slipway diff examples/aks/azure-cni.json examples/aks/kubenet.json", code: 1, reason: "they differ"},
	{line: "slipway plan -f node.yaml -o json >before.json && vi node.yaml && slipway diff before.json node.yaml",
		instead: "slipway plan -f node.yaml -o json >before.json && slipway diff before.json node.yaml", reason: "needs a user who edits"},
	{line: "slipway render -f aks.json --to custom-data --raw | less",
		instead: "slipway render -f aks.json --to custom-data --raw | cat", reason: "needs a user who reads"},
	{line: "slipway verify --image /mnt/image node-bundle /mnt/node-disk",
		instead: "slipway verify --image node-bundle/root node-bundle node-bundle/root", reason: "the machine is a directory"},
	{line: "slipway verify node-bundle /", instead: "slipway verify node-bundle node-bundle/root", reason: "the machine is a directory"},
	{line: "slipway verify --digest sha256:9f2c... node-bundle /mnt/node-disk",
		instead: `slipway verify --digest "$(sed -n 's/.*"digest": "\(.*\)".*/\1/p' node-bundle/manifest.json)" node-bundle node-bundle/root`, reason: "the machine is a directory"},
	{line: "slipway launch diff running.json --settings settings.yaml --nodeclass nodeclass.yaml --nodeclaim nodeclaim.yaml --instance-type Standard_D4ds_v5 --instance-types skus.json --cluster detected.yaml --images images.yaml",
		instead: "slipway launch --settings settings.yaml --nodeclass nodeclass.yaml --nodeclaim nodeclaim.yaml --instance-type Standard_D4ds_v5 --instance-types skus.json --cluster detected.yaml --images images.yaml -o json >running.json && slipway launch diff running.json --settings settings.yaml --nodeclass nodeclass.yaml --nodeclaim nodeclaim.yaml --instance-type Standard_D4ds_v5 --instance-types skus.json --cluster detected.yaml --images images.yaml", reason: "it is written before"},
	{line: `slipway-node completion zsh >"${fpath[1]}/_slipway-node"`, instead: "slipway-node completion zsh >_slipway-node", reason: "fpath is zsh's"},
}

// quoted matches an argument in quotes, and ends matches the end of a command.
var (
	quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	ends   = regexp.MustCompile(`\s*[|&>].*`)
)

// usage records which of the special lines occurred.
type usage struct {
	mu    sync.Mutex
	lines []string
}

func (u *usage) note(line string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lines = append(u.lines, line)
}

func (u *usage) has(line string) bool { return slices.Contains(u.lines, line) }

// comment matches a comment behind a command.
var comment = regexp.MustCompile(`(^|\s+)#\s.*$`)

// command handles a line.
func (r *reader) command(line string) {
	line = strings.TrimSpace(comment.ReplaceAllString(line, ""))
	if line == "" {
		return
	}
	r.mentioned(line)
	for _, s := range special {
		if s.line != line {
			continue
		}
		r.used.note(line)
		if s.instead != "" {
			r.run(s.instead, s.code)
		}
		return
	}
	switch strings.TrimPrefix(strings.Fields(line)[0], "bin/") {
	case "make", "sudo": // its target is there, see mentioned
	case "kubectl", "kubeadm", "crictl", "systemctl", "journalctl", "curl", "aws", "az", "openssl", "ssh-keygen", "sha256sum", "packer", "cat": // need a cluster, a machine that runs, or a cloud
	case "go":
		r.tryWalk(line)
	case "slipway", "slipway-node", "find", "sed", "source", "cp", "printf":
		r.run(line, 0)
	default:
		r.t.Errorf("%s: the test does not know %q: run it, or name it in the table with a reason", r.where, line)
	}
}

// onMachine matches a command of the agent without another directory to work on.
var onMachine = regexp.MustCompile(`(^|&& )slipway-node( |$)`)

// run runs a line and checks its exit code.
func (r *reader) run(line string, want int) (output string) {
	r.t.Helper()
	if !strings.Contains(line, "--root") {
		r.haveNode(line)
		if strings.HasPrefix(line, "slipway-node apply") {
			r.editContract()
		}
		line = onMachine.ReplaceAllString(line, "${1}slipway-node --root machine ")
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	got := 0
	if failure, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failure.ExitCode()
	} else if err != nil {
		r.t.Fatalf("%s: %s: %v", r.where, line, err)
	}
	if got != want {
		r.t.Errorf("%s: exit code %d, want %d\n$ %s\n%s", r.where, got, want, line, out)
	}
	return string(out)
}

// ofNode is a command that takes a machine which is a node.
var ofNode = regexp.MustCompile(`^slipway-node (apply|confirm|rollback|status)\b`)

// haveNode makes the machine a node if the command takes one and the document has made none.
func (r *reader) haveNode(line string) {
	if _, err := os.Stat(filepath.Join(r.dir, "machine/var/lib/slipway/status.json")); err != nil && ofNode.MatchString(line) {
		r.run("slipway-node provision", 0)
	}
}

// editContract changes node.yaml, as a user who applies it would.
func (r *reader) editContract() {
	path := filepath.Join(r.dir, "node.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.edits++
	text := maxPods.ReplaceAllString(string(data), "maxPods: "+strconv.Itoa(100+r.edits))
	if text == string(data) {
		r.t.Fatal("node.yaml has no maxPods to change")
	}
	r.write("node.yaml", text)
}

var maxPods = regexp.MustCompile(`maxPods: \d+`)

func (r *reader) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// mentioned checks a command in prose as far as possible without running it: make has the target, a program has the command, and
// the command has the flags.
func (r *reader) mentioned(line string) {
	words := strings.Fields(ends.ReplaceAllString(quoted.ReplaceAllString(strings.TrimPrefix(line, "sudo "), "QUOTED"), ""))
	if len(words) == 0 {
		return
	}
	switch program := strings.TrimPrefix(words[0], "bin/"); program {
	case "make":
		for _, target := range words[1:] {
			if name, value, set := strings.Cut(target, "="); set {
				r.variable(name, value)
			} else if !targets()[target] {
				r.t.Errorf("%s: make has no target %q", r.where, target)
			}
		}
	case "slipway", "slipway-node":
		r.flags(program, words[1:])
	}
}

// variable checks a variable for make.
func (r *reader) variable(name, value string) {
	if name != "CASE" || strings.ToUpper(value) == value {
		return
	}
	if _, err := os.Stat(filepath.Join(repo, "test", "e2e", "cases", value, "case.yaml")); err != nil {
		r.t.Errorf("%s: there is no case %q", r.where, value)
	}
}

// flags checks a program's command and flags by its help.
func (r *reader) flags(program string, words []string) {
	command := ""
	if len(words) > 0 && regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(words[0]) {
		command = words[0]
		if !slices.Contains(r.commands(program), command) {
			r.t.Errorf("%s: %s has no command %q", r.where, program, command)
			return
		}
		if len(words) > 1 && slices.Contains(r.commandsOf(program, command), words[1]) {
			command += " " + words[1]
		}
	}
	help := r.help(program, command)
	for _, word := range words {
		flag, _, _ := strings.Cut(strings.Trim(word, "[]"), "=")
		if strings.HasPrefix(flag, "-") && flag != "-" && !regexp.MustCompile(`(?m)^ .*`+regexp.QuoteMeta(flag)+`\b`).MatchString(help) {
			r.t.Errorf("%s: %s %s has no flag %s", r.where, program, command, flag)
		}
	}
}

var targets = sync.OnceValue(func() map[string]bool {
	data, err := os.ReadFile(filepath.Join(repo, "Makefile"))
	if err != nil {
		return nil
	}
	all := make(map[string]bool)
	for _, name := range found(regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`), string(data)) {
		all[name] = true
	}
	return all
})

// helps are the programs' outputs for --help.
var helps sync.Map

func (r *reader) help(program, command string) string {
	r.t.Helper()
	key := program + " " + command
	if known, ok := helps.Load(key); ok {
		return known.(string)
	}
	out, err := exec.CommandContext(r.t.Context(), filepath.Join(bin, program), append(strings.Fields(command), "--help")...).Output()
	if err != nil {
		r.t.Fatalf("%s: %s --help: %v", r.where, key, err)
	}
	helps.Store(key, string(out))
	return string(out)
}

// commands are a program's commands.
func (r *reader) commands(program string) []string { return r.commandsOf(program, "") }

// commandsOf are the commands of one of a program's commands.
func (r *reader) commandsOf(program, command string) []string {
	groups, _, _ := strings.Cut(r.help(program, command), "\nExamples:\n")
	return found(regexp.MustCompile(`(?m)^  ([a-z][a-z-]*)  `), groups)
}

// examplesOf are the lines of a help's examples.
func examplesOf(help string) []string {
	var lines []string
	for line := range strings.Lines(section(help, "Examples:")) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// section is the part of a help after a title, up to an empty line.
func section(help, title string) string {
	_, rest, _ := strings.Cut(help, "\n"+title+"\n")
	text, _, _ := strings.Cut(rest, "\n\n")
	return text
}
