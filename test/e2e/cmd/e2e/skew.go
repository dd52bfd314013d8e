package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/scenario"
	"github.com/slipway-dev/slipway/test/e2e/skew"
)

// skewOutside joins nodes of the named minor versions of the kubelet, or of all, in a lab for each version of the control plane.
func skewOutside(ctx context.Context, minors []string) error {
	repo, err := os.Getwd()
	if err != nil {
		return err
	}
	cases, err := skew.Cases(repo, minors)
	if err != nil {
		return err
	}
	var failed error
	for _, controlPlane := range slices.Sorted(maps.Keys(cases)) {
		fmt.Printf("%d nodes join Kubernetes %s\n", len(cases[controlPlane]), controlPlane)
		err := sandboxed(ctx, "skewed", cases[controlPlane], controlPlane, func(s *setup) error {
			s.Minors = minors
			return nil
		})
		failed = errors.Join(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed, skew.FillDocument(repo))
}

// skewInside runs the cases of one control plane, as the sandbox's first process, and records the results.
func skewInside(ctx context.Context, args []string) error {
	s, err := parseSetup(args)
	if err != nil {
		return err
	}
	all, err := skew.Cases(s.Repo, s.Minors)
	if err != nil {
		return err
	}
	var cases []scenario.Case
	for _, group := range all {
		for _, c := range group {
			if slices.Contains(s.Cases, c.Name) {
				cases = append(cases, c)
			}
		}
	}
	outcomes, err := s.runCases(ctx, cases, "skew")
	if err != nil {
		return err
	}
	if ctx.Err() == nil {
		err = skew.Record(s.Repo, outcomes, time.Now().UTC().Format(time.DateOnly))
	}
	return errors.Join(err, report(outcomes))
}
