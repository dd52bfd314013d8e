package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// Mode is which program makes the node. Empty means Native.
type Mode string

// The modes.
const (
	// Native is Slipway.
	Native Mode = status.ModeNative
	// Legacy are the provisioning scripts that the image has, with the variables that AKS's program would give them.
	Legacy Mode = status.ModeLegacy
	// Auto is Native, unless the contract sets something that Slipway does not apply, or that the image has no component for, and
	// the image has the scripts.
	Auto Mode = "auto"
)

// Modes are all of them, the default first.
func Modes() []string { return []string{string(Native), string(Legacy), string(Auto)} }

// maxReasons is how many settings a reason names.
const maxReasons = 3

// fatal are the problems that prevent a node, as far as they are known before the mode is chosen: scripts apply
// settings that Slipway does not.
func (c *contract) fatal(r *run) []nodeconfig.Problem {
	problems := c.Fatal()
	if r.mode == Legacy || r.mode == Auto {
		problems = slices.DeleteFunc(problems, compile.IsUnapplied)
	}
	return problems
}

// chooseMode chooses the program that makes the node, and records it in the status if the user set a mode. If the
// contract is unchanged, the choice stays the same.
func chooseMode(r *run, c *contract, known facts.Facts) (Mode, error) {
	if r.mode != Legacy && r.mode != Auto {
		return Native, nil
	}
	chosen, reason := Legacy, "asked for"
	scripts := profile.Of(c.Config.Components.Layout).Agent.Scripts
	there, err := hasScripts(r, scripts)
	if err != nil {
		return "", err
	}
	generation, native, err := madeNatively(r)
	switch {
	case err != nil:
		return "", err
	case r.mode == Auto:
		chosen, reason = whoMakes(r, c, known, native, there, scripts)
	case scripts == "":
		return "", outcome.Refusal{
			Why:      fmt.Sprintf("no image for nodes of the layout %s has provisioning scripts: use --mode native", c.Config.Components.Layout),
			ExitCode: exitcode.ImageNotBuilt,
		}
	case !there:
		return "", outcome.Refusal{
			Why:      "this image has no provisioning scripts: " + scripts + " is not a file. Use --mode native, or an image of AKS's",
			ExitCode: exitcode.ImageNotBuilt,
		}
	case native:
		return "", outcome.Refused("Slipway has made this node, or prepared its image (generation %d), and keeps what it has made as it is: "+
			"use --mode native, or first undo that with slipway-node reset, before the image's scripts are run", generation)
	}
	r.account.Status.Mode = &status.Mode{Name: string(chosen), Reason: reason}
	r.log.Info("who makes the node", "mode", chosen, "reason", reason)
	return chosen, nil
}

func hasScripts(r *run, path string) (bool, error) {
	if path == "" {
		return false, nil
	}
	entry, err := r.host.Stat(path)
	return entry.Kind == apply.RegularFile, err
}

// whoMakes is the choice of the mode Auto, and the reason.
func whoMakes(r *run, c *contract, known facts.Facts, native, there bool, scripts string) (Mode, string) {
	_, problems := c.planned(r, known)
	left, what := c.Unapplied(problems), "Slipway does not apply "
	if lacking := notInstalled(problems); len(left) == 0 && there {
		left, what = lacking, "the image lacks what makes a node without its scripts, for " // the scripts may install it
	}
	switch {
	case wasLegacy(r, c):
		return Legacy, "the scripts have made this node of the same contract"
	case native:
		return Native, "Slipway has made this node, or prepared its image"
	case len(left) == 0:
		return Native, "Slipway applies every setting of the contract"
	case scripts == "":
		return Native, "no image of this layout has provisioning scripts, which would apply " + someOf(left)
	case !there:
		return Native, "the image does not have " + scripts + ", which would apply " + someOf(left)
	}
	return Legacy, what + someOf(left)
}

// notInstalled are the settings that a node needs and that the image has no component for.
func notInstalled(problems []nodeconfig.Problem) (paths []string) {
	for _, p := range nodeconfig.Fatal(problems) {
		if p.Kind == nodeconfig.NotInstalled && !slices.Contains(paths, p.Path) {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// someOf names some of the paths.
func someOf(paths []string) string {
	text := strings.Join(paths[:min(len(paths), maxReasons)], ", ")
	if more := len(paths) - maxReasons; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// wasLegacy reports whether the scripts have made this node of the contract.
func wasLegacy(r *run, c *contract) bool {
	last, err := publish.LastStatus(r.host)
	return err == nil && isLegacy(last) && last.Outcome == status.OutcomeSuccess && last.Config.Digest == nodeconfig.Digest(c.Config)
}

// isLegacy reports whether the scripts were to make the node in the run that a status is of.
func isLegacy(last *status.Status) bool {
	return last.Mode != nil && last.Mode.Name == status.ModeLegacy
}

// handOver has the image's scripts make the node. They run once for a contract: they are not written to run again if
// nothing has changed. It reports whether they have made the node of this contract before.
func handOver(ctx context.Context, r *run, lock *lock, machine *identity.Machine, c *contract) (unchanged bool, err error) {
	r.target.Script = true
	variables, problems := cse.Variables(c.Contract, machine.Facts)
	problems = append(slices.DeleteFunc(slices.Clone(c.Problems), isUnapplied), problems...)
	nodeconfig.SortProblems(problems)
	if err := c.refused(r, problems); err != nil {
		return false, err
	}
	scripts := profile.Of(c.Config.Components.Layout).Agent.Scripts
	desired := plan.ImageScripts(c.Config, cse.Trigger(scripts), cse.Map(variables))
	r.account.Status.Config.Digest = desired.Config
	if unchanged = wasLegacy(r, c) && publish.SuccessStands(r.host, desired.Config, r.target); unchanged {
		return true, nil
	}
	if r.dryRun {
		report, err := r.node().Preview(ctx, desired)
		r.account.Applied(report)
		return false, err
	}
	return false, settle(ctx, r, c.Config.Checks.Timeout.Std(), nil, func(ctx context.Context) error {
		recordFacts(r, machine.Facts)
		return applyScript(ctx, r, lock, desired)
	}, nil)
}

func isUnapplied(p nodeconfig.Problem) bool { return p.Kind == nodeconfig.NotApplied }

// madeNatively reports whether Slipway has made this node or prepared its image, and in which generation. Such a node
// is repaired; the scripts would change it. The generations remain after a reset; their files do not.
func madeNatively(r *run) (number int, made bool, err error) {
	store, err := generation.Open(r.host, r.log)
	if err != nil {
		return 0, false, err
	}
	current, _ := store.Current()
	if last, err := publish.LastStatus(r.host); err == nil && isLegacy(last) {
		return 0, false, nil
	}
	brought, _ := store.Stale(resource.Plan{})
	for _, b := range brought {
		if file, ok := b.Spec.(*resource.File); ok {
			entry, err := r.host.Stat(file.Path)
			if err != nil || entry.Kind != apply.Absent {
				return current.Number, true, err
			}
		}
	}
	return 0, false, nil
}
