package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// setup is all that the process in the sandbox needs to know.
type setup struct {
	Repo string
	// Lane is which of the sandboxes it is.
	Lane    int
	Parts   lab.Parts
	Images  map[string]string
	Slipway string
}

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

// build makes all parts, with images of the given kinds of containerd.
func build(ctx context.Context, containerds []string) (setup, error) {
	repo, err := os.Getwd()
	if err != nil {
		return setup{}, err
	}
	store := &parts.Store{Dir: filepath.Join(repo, ".cache", "e2e"), Repo: repo, Log: logger()}
	s := setup{Repo: repo, Images: make(map[string]string)}
	if err := store.InstallTools(ctx); err != nil {
		return s, err
	}
	for _, part := range []struct {
		dir  *string
		make func(context.Context) (string, error)
	}{
		{&s.Parts.Kernel, store.Kernel}, {&s.Parts.Initrd, store.Initrd},
		{&s.Parts.Kubernetes, store.KubernetesBinaries}, {&s.Parts.Etcd, store.EtcdBinary},
	} {
		if *part.dir, err = part.make(ctx); err != nil {
			return s, err
		}
	}
	binaries := filepath.Join(store.Dir, "bin")
	if err := store.Agent(ctx, binaries); err != nil {
		return s, fmt.Errorf("build Slipway: %w", err)
	}
	s.Slipway = filepath.Join(binaries, "slipway")
	for _, kind := range containerds {
		if s.Images[kind], err = store.Image(ctx, filepath.Join(binaries, "slipway-node"), kind); err != nil {
			return s, err
		}
	}
	return s, nil
}

// alone keeps two runs apart, which would make parts and start a lab in the same directories.
func alone() (unlock func(), err error) {
	path := filepath.Join(".cache", "e2e", "lock")
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

// lanes is how many machines run at once, each in a sandbox of its own: one leaves two processors idle for
// a third of the time.
const lanes = 2

// outside makes the parts and runs the cases in sandboxes.
func outside(ctx context.Context, names []string) error {
	cases, err := scenario.Load(filepath.Join("test", "e2e", "cases"), names...)
	if err != nil {
		return err
	}
	var containerds []string
	for _, c := range cases {
		if !slices.Contains(containerds, c.Containerd) {
			containerds = append(containerds, c.Containerd)
		}
	}
	unlock, err := alone()
	if err != nil {
		return err
	}
	defer unlock()
	s, err := build(ctx, containerds)
	if err != nil {
		return err
	}
	// The longest first, so that nobody waits for it at the end.
	slices.SortStableFunc(cases, func(a, b scenario.Case) int { return cmp.Compare(b.Timeout, a.Timeout) })
	queue := make(chan string, len(cases))
	for _, c := range cases {
		queue <- c.Name
	}
	close(queue)
	var (
		mu       sync.Mutex
		outcomes []scenario.Outcome
		failures []error
		wait     sync.WaitGroup
	)
	for lane := range min(lanes, len(cases)) {
		wait.Go(func() {
			err := runLane(ctx, s, lane+1, queue, func(o scenario.Outcome) {
				mu.Lock()
				defer mu.Unlock()
				outcomes = append(outcomes, o)
			})
			mu.Lock()
			defer mu.Unlock()
			failures = append(failures, err)
		})
	}
	wait.Wait()
	slices.SortFunc(outcomes, func(a, b scenario.Outcome) int { return cmp.Compare(a.Case, b.Case) })
	return errors.Join(append(failures, report(outcomes), ctx.Err())...)
}

// runLane runs cases of the queue, one after the other, in a sandbox.
func runLane(ctx context.Context, s setup, lane int, queue <-chan string, done func(scenario.Outcome)) error {
	s.Lane = lane
	document, err := json.Marshal(s)
	if err != nil {
		return err
	}
	cmd, err := lab.Command(ctx, "inside", string(document))
	if err != nil {
		return err
	}
	names, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	results, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	defer results.Close()
	cmd.ExtraFiles = []*os.File{tell}
	err = cmd.Start()
	tell.Close()
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(results)
	for name := range queue {
		var o scenario.Outcome
		_, err := fmt.Fprintln(names, name)
		if err == nil {
			err = decoder.Decode(&o)
		}
		if err != nil {
			done(scenario.Outcome{Case: name, Failure: "the sandbox ended: " + err.Error()})
			break
		}
		done(o)
	}
	names.Close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("sandbox %d: %w", lane, err)
	}
	return nil
}

// inside runs the cases that it is told to, as a sandbox's first process.
func inside(ctx context.Context, args []string) error {
	var s setup
	if len(args) != 1 || !lab.Inside() {
		return errors.New("inside is called by run only")
	}
	if err := json.Unmarshal([]byte(args[0]), &s); err != nil {
		return err
	}
	results := os.NewFile(3, "results")
	syscall.CloseOnExec(3)
	log := logger()
	cache := filepath.Join(s.Repo, ".cache", "e2e")
	l, err := lab.Start(ctx, filepath.Join(cache, fmt.Sprintf("lab-%d", s.Lane)), s.Parts, log)
	if l != nil {
		defer l.Stop()
	}
	if err != nil {
		return err
	}
	runner := &scenario.Runner{Lab: l, Cache: cache, Images: s.Images, Slipway: s.Slipway, Out: filepath.Join(s.Repo, "out", "e2e"), Log: log}
	for names := bufio.NewScanner(os.Stdin); ctx.Err() == nil && names.Scan(); {
		cases, err := scenario.Load(filepath.Join(s.Repo, "test", "e2e", "cases"), names.Text())
		if err != nil {
			return err
		}
		c := cases[0]
		log.Info("case", "name", c.Name, "about", c.About)
		o := runner.Run(ctx, c)
		if o.Failure != "" {
			log.Error("case failed", "name", c.Name, "error", o.Failure, "logs", o.Out)
		} else {
			log.Info("case passed", "name", c.Name, "seconds", o.Duration.Seconds())
		}
		if err := json.NewEncoder(results).Encode(o); err != nil {
			return err
		}
	}
	return nil
}

// report prints what all cases came to.
func report(outcomes []scenario.Outcome) error {
	var failed int
	for _, o := range outcomes {
		scenario.PrintTimeline(os.Stdout, o)
	}
	fmt.Println()
	for _, o := range outcomes {
		verdict := "ok"
		if o.Failure != "" {
			verdict = "FAILED"
			failed++
		}
		fmt.Printf("%-8s %-24s %6.1f s  %s\n", verdict, o.Case, o.Duration.Round(100*time.Millisecond).Seconds(), o.Out)
		if o.Failure != "" {
			fmt.Printf("         %s\n", o.Failure)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases failed", failed, len(outcomes))
	}
	return nil
}
