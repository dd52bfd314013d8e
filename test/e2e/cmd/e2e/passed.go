package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/parts"
	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// pass is the record of a case that has passed. All cases together take more than an hour, so a run of the rest goes on where an earlier one ended.
type pass struct {
	// Tested is the digest of what the case tested. The suite's code is no part of it: a change of the suite is not one of the
	// product. So Commit, the commit that was checked out, tells with which suite the case has passed.
	Tested string    `json:"tested"`
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
}

// passesPath is the path of the passes, by case.
func (s *setup) passesPath() string { return filepath.Join(s.Cache, "passed.json") }

// passes reads the passes.
func (s *setup) passes() (map[string]pass, error) {
	passes := make(map[string]pass)
	data, err := os.ReadFile(s.passesPath())
	if errors.Is(err, os.ErrNotExist) {
		return passes, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &passes)
	}
	if err != nil {
		return nil, fmt.Errorf("read which cases have passed from %s (you can delete it): %w", s.passesPath(), err)
	}
	return passes, nil
}

// identify computes what the cases test: the program for people, the image with the agent, the programs of the case, the case's folder,
// and what the case tests whose machine it continues with.
func (s *setup) identify(ctx context.Context, cases []scenario.Case) error {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return fmt.Errorf("ask git for the commit: %w", err)
	}
	s.Commit, s.Tested = strings.TrimSpace(string(commit)), make(map[string]string)
	program, err := parts.Digest(nil, []string{s.Slipway})
	if err != nil {
		return fmt.Errorf("what the cases test: %w", err)
	}
	for _, c := range cases { // in an order in which a case follows the one that it continues
		files := []string{c.Dir, filepath.Join(filepath.Dir(c.Dir), "contract.json")}
		for _, name := range c.Programs {
			files = append(files, s.Parts.Programs[name])
		}
		inputs := []string{program, filepath.Base(s.Images[c.Image().Name()].Dir), filepath.Base(s.Parts.Kubernetes), s.Tested[c.After]}
		if s.Tested[c.Name], err = parts.Digest(inputs, files); err != nil {
			return fmt.Errorf("what case %s tests: %w", c.Name, err)
		}
	}
	return nil
}

// leaveOutPassed removes the cases that have passed, and prints them. [scenario.Load] brings those back that another case continues.
func (s *setup) leaveOutPassed(out io.Writer) error {
	passes, err := s.passes()
	if err != nil {
		return err
	}
	var rest []string
	for _, name := range s.Cases {
		p, passed := passes[name]
		if !passed || p.Tested != s.Tested[name] {
			rest = append(rest, name)
			continue
		}
		fmt.Fprintf(out, "  %-24s has passed, %s, at commit %s\n", name, p.At.Format(time.DateTime), p.Commit)
	}
	fmt.Fprintf(out, "%d of %d cases have passed with the same programs, image and case\n", len(s.Cases)-len(rest), len(s.Cases))
	s.Cases = rest
	return nil
}

// note keeps a case's pass, or removes it.
func (s *setup) note(o scenario.Outcome) error {
	tested := s.Tested[o.Case]
	if tested == "" {
		return nil
	}
	passes, err := s.passes()
	if err != nil {
		return err
	}
	if delete(passes, o.Case); o.Err == nil {
		passes[o.Case] = pass{Tested: tested, Commit: s.Commit, At: time.Now().UTC().Truncate(time.Second)}
	}
	data, err := json.MarshalIndent(passes, "", "  ")
	if err != nil {
		return err
	}
	scratch := s.passesPath() + ".new"
	if err := os.WriteFile(scratch, data, 0o644); err != nil {
		return err
	}
	return os.Rename(scratch, s.passesPath())
}
