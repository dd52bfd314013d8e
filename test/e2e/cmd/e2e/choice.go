package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"strings"

	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// parseRun parses the arguments that select cases. rest leaves out those that have passed already.
func parseRun(ctx context.Context, args []string) (choice scenario.Choice, rest bool, err error) {
	var since string
	flags := flag.NewFlagSet("e2e run", flag.ContinueOnError)
	flags.BoolVar(&choice.All, "all", false, "run all cases, and not only the core set")
	flags.BoolVar(&rest, "rest", false, "run all cases but those that have passed, with the same programs, image and case")
	flags.StringVar(&since, "since", "", "run also those that have a file among their inputs that changed since a `COMMIT`")
	if err := flags.Parse(args); err != nil {
		return choice, rest, err
	}
	choice.Names = flags.Args()
	ways := 0
	for _, way := range []bool{choice.All, rest, since != "", len(choice.Names) > 0} {
		if way {
			ways++
		}
	}
	if ways > 1 {
		return choice, rest, errors.New("want e2e run [--all | --rest | --since COMMIT | CASE...], one of them")
	}
	choice.All = choice.All || rest
	if since != "" {
		choice.Changed, err = changedSince(ctx, since)
	}
	return choice, rest, err
}

// changedSince are the files of the repository, by their paths, that differ from a commit, including uncommitted changes. It is
// never nil.
func changedSince(ctx context.Context, commit string) ([]string, error) {
	files := []string{}
	for _, args := range [][]string{
		{"diff", "--name-only", "--no-renames", "-z", "--end-of-options", commit + "^{commit}", "--"},
		{"ls-files", "--others", "--exclude-standard", "-z"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("what changed since %q: git %s: %w: %s", commit, args[0], err, bytes.TrimSpace(stderr.Bytes()))
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name != "" {
				files = append(files, name)
			}
		}
	}
	return files, nil
}
