package doctor

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/profile"
)

// kubeletChecks are those of the kubelet.
var kubeletChecks = []Check{
	{
		Name: "ports", Asks: "Are the kubelet's ports its own?", Live: true, Deadline: 2 * time.Second, Needs: []string{"waiting"}, Look: lookPorts,
		Causes: []Cause{
			{"taken", "another program listens on a port of the kubelet's", "stop the program that the verdict names, or give it another port; then restart the kubelet"},
		},
	},
	{
		Name: "kubelet", Asks: "Does the kubelet run, and stay up?", Live: true, Deadline: 4 * time.Second, Look: lookKubelet,
		Needs: []string{
			"read-only", "space", "inodes", "cgroups", "parameters", "swap", "masked-units", "ordering", "failed-units", "components", "waiting",
			"kubeconfig", "api-server", "credential", "runtime", "runtime-plugin", "cgroup-driver", "ports",
		},
		Causes: []Cause{
			{"missing", "the machine has no kubelet", "make the machine a node with slipway-node provision or kubeadm join, or use an image that has a kubelet"},
			{"stopped", "the kubelet is stopped", "run systemctl start kubelet, and find out what has stopped it"},
			{"refused", "the kubelet refuses a flag, a setting or a feature gate", "correct what the verdict names, in the contract or in the kubelet's own files; slipway validate checks a contract for the kubelet's version"},
			{"file", "a file that the kubelet needs is missing", "make the machine a node with slipway-node provision or kubeadm join, or restore the file that the verdict names"},
			{"program", "systemd cannot execute the kubelet's program", "install a kubelet for this machine's architecture at the path in the unit's ExecStart="},
			{"crashes", "the kubelet ends again and again", "correct what its last words name; journalctl -u kubelet has all of them"},
		},
	},
}

// healthChecks are those of the kubelet's health. A kubelet answers as soon as it has a certificate.
var healthChecks = []Check{
	{
		Name: "kubelet-health", Asks: "Does the kubelet report that it is healthy?", Live: true, Deadline: 3 * time.Second, Needs: []string{"kubelet", "certificate-request"}, Look: lookHealthz,
		Causes: []Cause{
			{"silent", "the kubelet runs, and its health endpoint does not answer", "read journalctl -u kubelet for what it waits for, and restart it"},
			{"unhealthy", "the kubelet reports that it is not healthy", "read journalctl -u kubelet: a loop that hangs is usually in the runtime or in a volume"},
		},
	},
}

// ports are those that a kubelet listens on, with its defaults (KubeletConfiguration; readOnlyPort is off).
var ports = []struct {
	setting, flag string
	number        uint16
}{
	{"$.port", "port", 10250}, {"$.healthzPort", "healthz-port", 10248}, {"$.readOnlyPort", "read-only-port", 0},
}

func lookPorts(ctx context.Context, p *Patient) *Finding {
	k := p.Kubelet()
	if k.Origin == "" {
		return fine("the machine has no kubelet")
	}
	f := fine("no other program listens on them")
	for _, port := range ports {
		number := k.Number(port.setting, port.flag, port.number)
		if number == 0 {
			continue
		}
		process, err := p.Machine.Listener(ctx, number)
		if err != nil {
			return unknownFor(err)
		}
		name := fmt.Sprintf("port %d", number)
		switch {
		case process == nil:
			f.with(name, "free")
			continue
		case process.Name == "kubelet" || process.Unit == profile.KubeletUnit || process.PID == 0 && k.PID != 0:
			f.with(name, "the kubelet")
			continue
		}
		f.with(name, holderText(process))
		if f.State != Wrong {
			f.wrong("taken", "port %d of the kubelet is taken by %s", number, holderText(process))
		}
	}
	return f
}

// holderText describes a process.
func holderText(process *host.Process) string {
	switch {
	case process.PID == 0:
		return "a process that cannot be seen"
	case process.Unit == "":
		return fmt.Sprintf("%s (process %d)", process.Name, process.PID)
	}
	return fmt.Sprintf("%s (process %d, %s)", process.Name, process.PID, process.Unit)
}

// The exit statuses with which systemd reports that it cannot start a program (systemd.exec(5), "Process Exit Codes").
const statusFirst, statusLast = 200, 243

func lookKubelet(ctx context.Context, p *Patient) *Finding {
	state, err := p.Machine.Examine(ctx, profile.KubeletUnit)
	if err != nil {
		return undecided("%v", err)
	}
	lines := p.kubeletLines(ctx, state)
	text := unitText(state)
	f := new(Finding).with(profile.KubeletUnit, text).withLines(profile.KubeletUnit, lines)
	if awaited := p.engineAwaits(); awaited != "" && !state.Running() {
		return undecided("kubelet.service is %s, and a provisioning waits for %s", text, awaited)
	}
	switch {
	case state.LoadState == "not-found" && p.Kubelet().PID != 0:
		return fine("a kubelet runs as process %d, without kubelet.service", p.Kubelet().PID)
	case state.LoadState == "not-found":
		return f.wrong("missing", "the machine has no kubelet.service")
	case state.ActiveState == "active" && !p.restartsQuickly(state):
		return f.fine("kubelet.service is %s", text)
	case state.ActiveState == "active" && p.isHealthy(ctx):
		return f.fine("kubelet.service is %s", text)
	case state.ActiveState == "activating" && state.SubState != "auto-restart" && state.Restarts == 0 || state.ActiveState == "deactivating":
		return f.undecided("kubelet.service is %s", text)
	case state.ActiveState == "inactive" && !state.Starting && state.Since.IsZero() && p.lastFailed():
		return f.undecided("kubelet.service is %s, because the last provisioning has failed before it started the kubelet", text)
	case state.ActiveState == "inactive" && !state.Starting:
		since := ""
		if !state.Since.IsZero() {
			since = " since " + stamp(state.Since)
		}
		return f.wrong("stopped", "kubelet.service is %s%s", text, since)
	case state.ActiveState == "inactive":
		return f.undecided("kubelet.service is to be started, and waits for other units")
	}
	if refused, found := refusal(lines); found {
		return f.wrong(refused.cause, "the kubelet does not start, because of %s: %s", refused.what, refused.text)
	}
	if !state.Killed && state.ExitCode >= statusFirst && state.ExitCode <= statusLast {
		return f.wrong("program", "systemd cannot execute the kubelet: kubelet.service is %s%s", text, colonWords(lines))
	}
	return f.wrong("crashes", "the kubelet does not stay up: kubelet.service is %s%s", text, colonWords(errorLines(lines)))
}

// restartDelay is more than the time after which systemd starts the kubelet again, in the units of all families and images.
const restartDelay = time.Minute

// kubeletLines are the newest lines of the kubelet's journal. If they have no error of a kubelet that restarts, it has just
// started again, and has printed a line for each flag: then the error with which it has ended (k8s.io/component-base/cli,
// Run) comes first.
func (p *Patient) kubeletLines(ctx context.Context, state *host.ExaminedUnit) []string {
	lines, _ := p.Machine.Search(ctx, profile.KubeletUnit)
	if state.Restarts == 0 || state.Since.IsZero() || state.Killed || slices.ContainsFunc(lines, isError) {
		return lines
	}
	ended, _ := p.Machine.SearchSince(ctx, state.Since.Add(-restartDelay), profile.KubeletUnit, "command failed")
	return slices.Concat(ended, lines)
}

// restartsQuickly reports whether a service that runs may be in a loop of restarts.
func (p *Patient) restartsQuickly(state *host.ExaminedUnit) bool {
	return state.Restarts > 1 && p.since(state.Since) < p.Patience(2*startTime)
}

// isHealthy reports whether the kubelet answers that it is healthy.
func (p *Patient) isHealthy(ctx context.Context) bool {
	_, err := p.Machine.AskHealthz(ctx, healthzOf(p.Kubelet()))
	return err == nil
}

// errorLines keeps the lines that report an error, or all lines if no line does.
func errorLines(lines []string) []string {
	var errs []string
	for _, line := range lines {
		if isError(line) {
			errs = append(errs, errorText(line))
		}
	}
	if len(errs) == 0 {
		return slices.Clone(lines)
	}
	return errs
}

// healthzOf is the URL of the kubelet's health endpoint, "" if it has none.
func healthzOf(k *kubeletsetup.Kubelet) string {
	port := k.Number("$.healthzPort", "healthz-port", 10248)
	if port == 0 {
		return ""
	}
	address := k.Text("$.healthzBindAddress", "healthz-bind-address").Or("127.0.0.1").Value
	switch ip := net.ParseIP(address); {
	case ip == nil || ip.IsUnspecified() && ip.To4() != nil:
		address = "127.0.0.1"
	case ip.IsUnspecified():
		address = "::1"
	}
	return "http://" + net.JoinHostPort(address, strconv.Itoa(int(port))) + "/healthz"
}

func lookHealthz(ctx context.Context, p *Patient) *Finding {
	url := healthzOf(p.Kubelet())
	if ip := net.ParseIP(hostOf(url)); ip == nil || !ip.IsLoopback() {
		return skipped("the kubelet has no health endpoint on the loopback address")
	}
	limited, cancel := context.WithTimeout(ctx, p.Patience(silence))
	defer cancel()
	answered, err := p.Machine.AskHealthz(limited, url)
	if err == nil {
		return fine("%s answers ok", url)
	}
	state, stateErr := p.Machine.Examine(ctx, profile.KubeletUnit)
	if stateErr == nil && p.since(state.Since) < p.Patience(startTime) {
		return undecided("the kubelet has started at %s, and %v", state.Since.UTC().Format(time.TimeOnly), err)
	}
	lines, _ := p.Machine.Search(ctx, profile.KubeletUnit)
	cause := "silent"
	if answered {
		cause = "unhealthy"
	}
	return wrong(cause, "the kubelet runs, and %v", err).withLines(profile.KubeletUnit, lines)
}

// hostOf is the host of a URL, "" if it has none.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
