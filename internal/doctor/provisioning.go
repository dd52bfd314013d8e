package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/state"
	results "github.com/slipway-dev/slipway/status"
)

// waitingChecks show a provisioning that has no plan yet. What it makes is not looked at.
var waitingChecks = []Check{
	{
		Name: "waiting", Asks: "Has a provisioning that runs found its contract?", Live: true, Needs: []string{"route", "names", "metadata", "wire-server"}, Look: lookWaiting,
		Causes: []Cause{
			{"contract", "a provisioning waits for its contract", "deliver the contract as user data or as a file; docs/sources.md has the places"},
		},
	},
}

// provisioningChecks are those of what the provisioning has made.
var provisioningChecks = []Check{
	{
		Name: "provisioning", Asks: "Has the last provisioning succeeded?", Look: lookProvisioning,
		Causes: []Cause{
			{"waits", "a provisioning waits for something, and no check has found the reason", "provide what the verdict names; the provisioning goes on by itself"},
			{"failed", "the last provisioning has failed, and no check has found the reason", "do what slipway-node status names, and run slipway-node provision"},
			{"scripts", "the provisioning by the scripts of AKS's image has failed, and no check has found the reason", "look up the exit code with slipway explain, and read /var/log/azure/cluster-provision.log"},
			{"unfinished", "a change of the node has ended in the middle", "run slipway-node provision, which finishes it"},
		},
	},
	{
		Name: "drift", Asks: "Is the machine as its plan made it?", Needs: []string{"provisioning"}, Deadline: 4 * time.Second, Look: lookDrift,
		Causes: []Cause{
			{"changed", "files or units of the node are not as its plan has them", "see the difference with slipway-node status --drift, and repair it with slipway-node provision"},
		},
	},
}

// runsNow is why the doctor gives no verdict on the result of a provisioning.
const runsNow = "a provisioning runs, or has ended since the examination began"

// stale is how old a record of waiting is when its run has died.
const stale = 3 * state.WaitingEvery

func lookWaiting(ctx context.Context, p *Patient) *Finding {
	if p.Provisions {
		return fine("this is the provisioning itself")
	}
	awaited := p.engineAwaits()
	p.known.waits.Store(awaited != "")
	for _, unit := range agentUnits() {
		found, err := p.Machine.Examine(ctx, unit)
		if err != nil {
			return unknownFor(err)
		}
		if found.ActiveState != "activating" && found.SubState != "running" {
			continue
		}
		p.known.runs.Store(true)
		since := ""
		if !found.Since.IsZero() {
			since = " since " + found.Since.UTC().Format(time.TimeOnly)
		}
		if awaited != "" {
			return unknown("a provisioning runs%s (%s), and waits for %s", since, unit, awaited)
		}
		lines, err := p.Machine.Search(ctx, unit)
		if err != nil {
			return unknownFor(err)
		}
		// A run that does not wait any more has logged something else. If it has its contract, it may have begun to wait for another
		// thing since its file was read.
		if what := awaitedIn(lines); strings.HasPrefix(what, state.AwaitedContract) {
			return wrong("contract", "a provisioning runs%s (%s), and waits for %s", since, unit, what)
		}
		return undecided("a provisioning runs%s (%s)", since, unit)
	}
	if awaited != "" {
		p.known.runs.Store(true)
		return unknown("a provisioning runs, and waits for %s", awaited)
	}
	return fine("no provisioning runs")
}

// agentUnits are the units in which a provisioning runs.
func agentUnits() []string {
	units := []string{profile.AgentUnit}
	for _, family := range profile.All() {
		if unit := family.Agent.Unit; unit != "" && unit != profile.AgentUnit {
			units = append(units, unit)
		}
	}
	return units
}

// readWaiting reads what a run waits for, and since when: "TIME WHAT".
func readWaiting(files Files) (at time.Time, what string, err error) {
	content, err := state.Waiting.Read(files)
	if err != nil {
		return at, "", err
	}
	stamp, what, _ := strings.Cut(string(content), " ")
	at, err = time.Parse(time.RFC3339, stamp)
	return at, what, err
}

// engineAwaits is what a run that applies its plan waits for. It is empty if no run waits.
func (p *Patient) engineAwaits() string {
	if p.Provisions {
		return ""
	}
	at, what, err := readWaiting(p.Machine)
	if err != nil || p.since(at) > p.Patience(stale) {
		return ""
	}
	return what
}

// awaitedIn is what the last record of the agent's log says that it waits for.
func awaitedIn(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	var record map[string]any
	if json.Unmarshal([]byte(lines[len(lines)-1]), &record) != nil {
		return ""
	}
	what, _ := record[state.WaitingKey].(string)
	return what
}

func lookProvisioning(_ context.Context, p *Patient) *Finding {
	switch awaited := p.engineAwaits(); {
	case awaited != "" && p.known.waits.Load():
		return wrong("waits", "a provisioning waits for %s", awaited)
	case awaited != "" || p.known.runs.Load():
		return unknown(runsNow)
	}
	last, err := publish.LastStatus(p.Machine)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return lookScripts(p)
	case err != nil:
		return unknownFor(err)
	case last.Outcome == results.OutcomeSuccess:
		return lookIntent(p, fine("the last provisioning has succeeded (%s)", stamp(last.FinishedAt)))
	}
	f := wrong("failed", "the last provisioning has failed with exit code %d (%s)", last.ExitCode, last.CodeName)
	if last.Error != nil {
		f.Says += ": " + last.Error.String()
		f.Action = last.Error.Action
	}
	for i := range last.Errors {
		f.with("error", last.Errors[i].String())
	}
	return f
}

// lastFailed reports whether the last provisioning has failed. A unit that has not started since is as the failure has left it.
func (p *Patient) lastFailed() bool {
	last, err := publish.LastStatus(p.Machine)
	return err == nil && !p.Provisions && last.Outcome != results.OutcomeSuccess
}

// lookIntent looks for a change that has ended in the middle: the engine's journal is still there.
func lookIntent(p *Patient, otherwise *Finding) *Finding {
	planned, err := p.Planned()
	if err != nil {
		return unknownFor(err)
	}
	if planned == nil || !planned.Unfinished {
		return otherwise
	}
	return wrong("unfinished", "the change to generation %d has not ended well: %s", planned.Generation, planned.Reason)
}

// lookScripts reads the result of the scripts of AKS's images, on a machine that Slipway has not provisioned.
func lookScripts(p *Patient) *Finding {
	for _, family := range profile.All() {
		result := state.ResultAt(family.Publication.Result)
		content, err := result.Read(p.Machine)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var code int
		var read results.CSEStatus
		if err == nil {
			if read, err = results.ParseCSE(content); err == nil {
				code, err = read.Code()
			}
		}
		if err != nil {
			return unknown("%s: %v", result.Path, err)
		}
		if code == exitcode.Success {
			return fine("the provisioning has succeeded (%s)", result.Path)
		}
		known, _ := exitcode.Lookup(code)
		f := wrong("scripts", "the provisioning has failed with exit code %d (%s): %s (%s)", code, known.Name, known.Meaning, result.Path)
		f.Action = known.ActionOn(p.Facts().Platform)
		if read.Error != "" {
			f.with("error", read.Error)
		}
		return f.with("output", read.Output)
	}
	return notSlipways()
}

func lookDrift(ctx context.Context, p *Patient) *Finding {
	planned, err := p.Planned()
	switch {
	case err != nil:
		return unknownFor(err)
	case planned == nil || p.Drift == nil:
		return notSlipways()
	case p.known.runs.Load():
		return unknown(runsNow)
	}
	changes, err := p.Drift(ctx)
	if err != nil {
		return unknownFor(err)
	}
	f := fine("the machine is as generation %d has made it", planned.Generation)
	var changed []string
	for _, c := range changes {
		f.with(string(c.ID), strings.TrimSpace(string(c.Action)+" "+c.Note))
		if c.Action != apply.Left { // an administrator has decided it
			changed = append(changed, string(c.ID))
		}
	}
	const most = 3
	if n := len(changed); n > most {
		changed = append(changed[:most], fmt.Sprintf("and %d more", n-most))
	}
	if len(changed) > 0 {
		return f.wrong("changed", "the machine differs from generation %d: %s", planned.Generation, strings.Join(changed, ", "))
	}
	return f
}
