package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/test/e2e/boot"
	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// bootOptions are what is measured, and where the results go.
type bootOptions struct {
	Runs     int
	Variants []string
	// Output is the format on standard output, "text" or "json".
	Output string
	// Markdown is a file for the tables. It may be empty.
	Markdown string
	// Docs writes the tables into the repository's documents.
	Docs bool
	// Disk limits the machines' disk.
	Disk lab.DiskLimits
}

func parseBoot(args []string) (bootOptions, error) {
	var o bootOptions
	var names string
	flags := flag.NewFlagSet("e2e boot", flag.ContinueOnError)
	flags.IntVar(&o.Runs, "runs", 5, "how often each variant is run")
	flags.StringVar(&names, "variant", "", "the variants, with commas between: "+strings.Join(boot.Variants, ",")+" (default all)")
	flags.StringVar(&o.Output, "o", "text", "what is printed: text or json")
	flags.StringVar(&o.Markdown, "markdown", "", "a file to write the tables to")
	flags.BoolVar(&o.Docs, "docs", false, "write the tables into docs/boot.md and README.md")
	flags.IntVar(&o.Disk.IOPS, "iops", 0, "operations a second that the machine's disk can do; 0 is no limit")
	flags.IntVar(&o.Disk.BytesPerSecond, "bps", 0, "bytes a second that it can read and write; 0 is no limit")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if names != "" {
		o.Variants = strings.Split(names, ",")
	}
	if flags.NArg() > 0 || o.Runs < 1 || min(o.Disk.IOPS, o.Disk.BytesPerSecond) < 0 || o.Output != "text" && o.Output != "json" {
		return o, errors.New("want e2e boot [--runs N] [--variant A,B] [-o text|json] [--markdown FILE] [--docs] [--iops N] [--bps N], N at least 1")
	}
	return o, nil
}

// measureOutside makes the parts and measures in a sandbox.
func measureOutside(ctx context.Context, args []string) error {
	options, err := parseBoot(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	repo, err := os.Getwd()
	if err != nil {
		return err
	}
	cases, err := boot.Load(repo, options.Variants...)
	if err != nil {
		return err
	}
	return sandboxed(ctx, "measure", cases, parts.Kubernetes, func(s *setup) error {
		s.Boot = options
		return nil
	})
}

// measureInside measures, as the sandbox's first process.
func measureInside(ctx context.Context, args []string) error {
	s, err := parseSetup(args)
	if err != nil {
		return err
	}
	cases, err := boot.Load(s.Repo, s.Cases...)
	if err != nil {
		return err
	}
	runner, stop, err := s.start(ctx, s.labDir(), "boot")
	defer stop()
	if err != nil {
		return err
	}
	runner.Lab.Disk = s.Boot.Disk
	results, failed := boot.Measure(ctx, runner.Run, cases, s.Boot.Runs, os.Stderr)
	return errors.Join(failed, publish(s.Repo, s.Boot, results))
}

// publish prints the results, and writes them to the requested files.
func publish(repo string, options bootOptions, results []boot.Result) error {
	if len(results) == 0 {
		return nil
	}
	tables := []boot.Table{boot.Summary(results), boot.AgainstFloor(results), boot.Timelines(results), boot.Apart(results)}
	if options.Output == "json" {
		document, err := json.MarshalIndent(results, "", "  ")
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", document)
	} else {
		for _, table := range tables {
			fmt.Println()
			if err := table.Print(os.Stdout); err != nil {
				return err
			}
		}
	}
	if options.Markdown != "" {
		text := tables[0].Markdown() + "\n" + tables[1].Markdown()
		if err := os.WriteFile(options.Markdown, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if options.Docs {
		return boot.FillDocuments(repo, results, time.Now())
	}
	return nil
}
