package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// setup is the input of the process in the sandbox.
type setup struct {
	Repo string
	// Cache is the directory of the parts.
	Cache   string
	Cases   []string
	Parts   lab.Parts
	Images  map[string]scenario.Image
	Slipway string
	Boot    bootOptions
	// Minors are those of [skew.Cases].
	Minors []string
	// Tested are the digests of what the cases test, by case, and Commit is the commit that is checked out. A case without a digest
	// leaves no pass.
	Tested map[string]string
	Commit string
}

// startTime limits the lab's start and the measuring boot, before which the machine's speed is unknown.
const startTime = 20 * time.Minute

// start starts the lab, whose state is in dir, and measures the speed of its machines. It returns the runner of its cases, which
// keep their files in a directory below out/e2e. stop ends the lab, also one that has not started completely.
func (s *setup) start(ctx context.Context, dir, out string) (runner *scenario.Runner, stop func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	log, stop := logger(), func() {}
	l, err := lab.Start(ctx, dir, s.Parts, log)
	if l != nil {
		stop = l.Stop
	}
	if err != nil {
		return nil, stop, err
	}
	image := s.Images[slices.Max(slices.Collect(maps.Keys(s.Images)))]
	pace, err := scenario.Measure(ctx, l, image.Machine(filepath.Join(dir, "vm-pace")))
	if err != nil {
		return nil, stop, fmt.Errorf("measure how fast a machine is: %w", err)
	}
	log.Info("measured how fast a machine is", "boot", pace.Of(1).Round(time.Second/10))
	return &scenario.Runner{Lab: l, Pace: pace, Store: &parts.Store{Dir: s.Cache, Repo: s.Repo, Log: log}, Images: s.Images, Slipway: s.Slipway,
		Out: filepath.Join(s.Repo, "out", "e2e", out), Log: log}, stop, nil
}

// cacheDir is the directory of the parts. All checkouts of a user share it: a part is of its inputs, wherever they are.
func cacheDir() (string, error) {
	user, err := os.UserCacheDir()
	return filepath.Join(user, "slipway-e2e"), err
}

// labDir is the directory of a lab that ends with the run.
func (s *setup) labDir() string { return filepath.Join(s.Cache, "lab") }

func logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.String(a.Key, a.Value.Time().Format("15:04:05.000"))
			}
			return a
		},
	}))
}

// build builds all parts that cases need. controlPlane is the version of the cluster's.
func build(ctx context.Context, cases []scenario.Case, controlPlane string) (setup, error) {
	repo, err := os.Getwd()
	if err != nil {
		return setup{}, err
	}
	cache, err := cacheDir()
	if err != nil {
		return setup{}, err
	}
	store := &parts.Store{Dir: cache, Repo: repo, Log: logger()}
	s := setup{Repo: repo, Cache: cache, Images: make(map[string]scenario.Image)}
	if err := store.InstallTools(ctx); err != nil {
		return s, err
	}
	for _, part := range []struct {
		dir  *string
		make func(context.Context) (string, error)
	}{
		{&s.Parts.Kubernetes, func(ctx context.Context) (string, error) { return store.KubernetesBinaries(ctx, controlPlane) }}, {&s.Parts.Etcd, store.EtcdBinary},
		{&s.Parts.Payload, store.Payload}, {&s.Parts.Containerd, store.Containerd},
	} {
		if *part.dir, err = part.make(ctx); err != nil {
			return s, err
		}
	}
	s.Parts.Programs = make(map[string]string)
	var programs []string
	for _, c := range cases {
		programs = append(programs, c.Programs...)
		s.Cases = append(s.Cases, c.Name)
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(programs))) {
		dir, err := store.Program(ctx, name)
		if err != nil {
			return s, err
		}
		s.Parts.Programs[name] = filepath.Join(dir, name)
	}
	binaries := filepath.Join(store.Dir, "bin")
	if err := store.Agent(ctx, binaries); err != nil {
		return s, fmt.Errorf("build Slipway: %w", err)
	}
	s.Slipway = filepath.Join(binaries, "slipway")
	for _, c := range cases {
		image := c.Image()
		if _, made := s.Images[image.Name()]; made {
			continue
		}
		if s.Images[image.Name()], err = makeImage(ctx, store, image, binaries); err != nil {
			return s, err
		}
	}
	return s, nil
}

// makeImage makes an image, and what boots it.
func makeImage(ctx context.Context, store *parts.Store, image parts.Image, binaries string) (made scenario.Image, err error) {
	if image.Plain {
		if err := store.InstallFirmware(ctx); err != nil {
			return made, err
		}
	}
	if made.Dir, err = store.Image(ctx, image, binaries); err != nil {
		return made, err
	}
	k := &made.Kernel
	k.Image, k.Initrd, k.HeldInitrd, k.Args, err = parts.Kernel(made.Dir)
	return made, err
}

// alone prevents two runs at the same time, which would build parts and start a lab in the same directories.
func alone() (unlock func(), err error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(cache, "lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: another run is at work: %w", path, err), file.Close())
	}
	return func() { file.Close() }, nil
}

// outside makes the parts and runs the cases in a sandbox.
func outside(ctx context.Context, args []string) error {
	choice, rest, err := parseRun(ctx, args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	dir := filepath.Join("test", "e2e", "cases")
	all, err := scenario.Load(dir)
	if err != nil {
		return err
	}
	names, left, err := choice.Choose(all)
	if err != nil {
		return err
	}
	cases, err := scenario.Load(dir, names...)
	if err != nil {
		return err
	}
	// This comes first, so that a long log ends with the failures and their reasons.
	fmt.Printf("%d of %d cases are left out\n", len(all)-len(cases), len(all))
	for _, line := range left {
		fmt.Println("  " + line)
	}
	return sandboxed(ctx, "inside", cases, parts.Kubernetes, func(s *setup) error {
		if err := s.identify(ctx, cases); err != nil || !rest {
			return err
		}
		return s.leaveOutPassed(os.Stdout)
	})
}

// sandboxed builds the parts that the cases need, and calls this program with a verb in a sandbox. further completes its input. If no
// case is left then, there is nothing to call.
func sandboxed(ctx context.Context, verb string, cases []scenario.Case, controlPlane string, further func(*setup) error) error {
	unlock, err := alone()
	if err != nil {
		return err
	}
	defer unlock()
	s, err := build(ctx, cases, controlPlane)
	if err != nil {
		return err
	}
	if err := further(&s); err != nil || len(s.Cases) == 0 {
		return err
	}
	document, err := json.Marshal(s)
	if err != nil {
		return err
	}
	cmd, err := lab.Command(ctx, verb, string(document))
	if err != nil {
		return err
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("some cases failed: %w", err)
	}
	return nil
}

// parseSetup parses the input from the process outside the sandbox.
func parseSetup(args []string) (setup, error) {
	var s setup
	if len(args) != 1 || !lab.Inside() {
		return s, errors.New("only this program itself calls it so, in a sandbox")
	}
	return s, json.Unmarshal([]byte(args[0]), &s)
}

// inside runs the cases, as the sandbox's first process.
func inside(ctx context.Context, args []string) error {
	s, err := parseSetup(args)
	if err != nil {
		return err
	}
	cases, err := scenario.Load(filepath.Join(s.Repo, "test", "e2e", "cases"), s.Cases...)
	if err != nil {
		return err
	}
	outcomes, err := s.runCases(ctx, cases, "")
	if err != nil {
		return err
	}
	return report(outcomes)
}

// runCases starts a lab and runs cases, which keep their files in a directory below out/e2e.
func (s *setup) runCases(ctx context.Context, cases []scenario.Case, out string) ([]scenario.Outcome, error) {
	runner, stop, err := s.start(ctx, s.labDir(), out)
	defer stop()
	if err != nil {
		return nil, err
	}
	var outcomes []scenario.Outcome
	for _, c := range cases {
		runner.Log.Info("case", "name", c.Name, "about", c.About)
		o := runner.Run(ctx, c)
		if o.Err != nil {
			runner.Log.Error("case failed", "name", c.Name, "error", o.Err, "logs", o.Out)
		}
		if o.Hung && ctx.Err() == nil {
			o = again(ctx, runner, cases, c)
		}
		outcomes = append(outcomes, o)
		if ctx.Err() != nil {
			break
		}
		if err := s.note(o); err != nil {
			return outcomes, err
		}
	}
	return outcomes, nil
}

// again runs a case once more, whose machine ran and answered nothing, or whose QEMU aborted. One of some hundreds of emulated machines did so;
// a fault of the product comes again. What the emulator says about the machine is in the log. The cases whose machine the case continues
// with run before it. QEMU 10.0.2 aborts at one of sixty starts of a machine with four processors (iotlb_to_section), while Linux sets
// up its devices.
func again(ctx context.Context, runner *scenario.Runner, cases []scenario.Case, c scenario.Case) (last scenario.Outcome) {
	chain := []scenario.Case{c}
	for after := c.After; after != ""; after = chain[0].After {
		i := slices.IndexFunc(cases, func(c scenario.Case) bool { return c.Name == after })
		chain = slices.Insert(chain, 0, cases[i])
	}
	if findings, err := os.ReadFile(filepath.Join(runner.Out, c.Name, scenario.Findings)); err == nil {
		fmt.Fprintf(os.Stderr, "%s\n", findings)
	}
	for _, one := range chain {
		runner.Log.Info("case again, because its machine did not answer or QEMU aborted", "name", one.Name)
		last = runner.Run(ctx, one)
	}
	return last
}

// report prints the results of all cases.
func report(outcomes []scenario.Outcome) error {
	var failed int
	for _, o := range outcomes {
		scenario.PrintTimeline(os.Stdout, o)
	}
	fmt.Println()
	for _, o := range outcomes {
		verdict := "ok"
		if o.Err != nil {
			verdict = "FAILED"
			failed++
		}
		fmt.Printf("%-8s %-24s %6.1f s  %s\n", verdict, o.Case, o.Duration.Round(100*time.Millisecond).Seconds(), o.Out)
		if o.Err != nil {
			fmt.Printf("         %v\n", o.Err)
			// If it is not there, the machine could not say anything.
			if findings, err := os.ReadFile(filepath.Join(o.Out, scenario.Findings)); err == nil {
				fmt.Printf("%s\n", findings)
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases failed", failed, len(outcomes))
	}
	return nil
}
