package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/status"
)

// waitArgs are what provision-wait must say.
type waitArgs struct {
	// ExitCode is the result's.
	ExitCode int `yaml:"exitCode"`
	// Error are texts that the error must hold.
	Error []string `yaml:"error"`
	// Datapoints are fields of the result that must be filled.
	Datapoints []string `yaml:"datapoints"`
	// Within is how long it may take from the machine's start.
	Within time.Duration `yaml:"within"`
}

// provisionWait runs provision-wait in the machine once it has booted, as the custom script
// extension does, and checks the result.
func (r *caseRun) provisionWait(ctx context.Context, args waitArgs) error {
	if args.Within == 0 {
		args.Within = 4 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, args.Within)
	defer cancel()
	if err := r.vm.Shell.Wait(ctx, r.vm.Healthy); err != nil {
		return err
	}
	result, err := r.vm.Shell.Run(ctx, "/opt/azure/containers/aks-node-controller provision-wait 2>/dev/null")
	r.waited = time.Now()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "provision-wait.json"), []byte(result.Output), 0o644); err != nil {
		return err
	}
	if result.Code != args.ExitCode {
		return fmt.Errorf("provision-wait ends with %d, want %d: %s", result.Code, args.ExitCode, result.Output)
	}
	document, err := status.ParseCSE([]byte(result.Output))
	if err != nil {
		return fmt.Errorf("provision-wait prints no result: %w: %s", err, result.Output)
	}
	if document.ExitCode != strconv.Itoa(args.ExitCode) {
		return fmt.Errorf("the result's ExitCode is %q, want %q: %s", document.ExitCode, strconv.Itoa(args.ExitCode), document.Error)
	}
	for _, text := range args.Error {
		if !strings.Contains(document.Error, text) {
			return fmt.Errorf("the error %q does not name %q", document.Error, text)
		}
	}
	return datapoints([]byte(result.Output), args.Datapoints)
}

// datapoints checks that fields of a document, named by dotted paths, are filled.
func datapoints(document []byte, paths []string) error {
	var root any
	if err := json.Unmarshal(document, &root); err != nil {
		return err
	}
	for _, path := range paths {
		value := root
		for name := range strings.SplitSeq(path, ".") {
			object, _ := value.(map[string]any)
			value = object[name]
		}
		if text, ok := value.(string); !ok || text == "" || text == "n/a" {
			return fmt.Errorf("%s is not filled: %v", path, value)
		}
	}
	return nil
}

// guestArgs are a command in the machine, and what it must say.
type guestArgs struct {
	Run    string   `yaml:"run"`
	Code   int      `yaml:"code"`
	Output []string `yaml:"output"`
}

// guest runs a command in the machine.
func (r *caseRun) guest(ctx context.Context, args guestArgs) error {
	result, err := r.vm.Shell.Run(ctx, args.Run)
	if err != nil {
		return err
	}
	if result.Code != args.Code {
		return fmt.Errorf("%s: exit code %d, want %d: %s", args.Run, result.Code, args.Code, result.Output)
	}
	for _, want := range args.Output {
		if !strings.Contains(result.Output, want) {
			return fmt.Errorf("%s: the output has no %q: %s", args.Run, want, result.Output)
		}
	}
	return nil
}
