package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/status"
)

// waitArgs are the required output of provision-wait.
type waitArgs struct {
	// ExitCode is the result's exit code.
	ExitCode int `yaml:"exitCode"`
	// Error are texts that the error must contain.
	Error []string `yaml:"error"`
	// Datapoints are fields of the result that must be filled.
	Datapoints []string `yaml:"datapoints"`
}

// provisionWait runs provision-wait in the machine once it has booted, as the custom script extension does, and checks the result.
func (r *caseRun) provisionWait(ctx context.Context, args waitArgs) error {
	if err := r.shell(ctx); err != nil {
		return err
	}
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	result, err := r.vm.Shell.Run(ctx, "/opt/azure/containers/aks-node-controller provision-wait 2>/dev/null")
	if err != nil {
		return errors.Join(err, context.Cause(ctx))
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

// guestArgs are a command in the machine, and its required output.
type guestArgs struct {
	Run    string   `yaml:"run"`
	Code   int      `yaml:"code"`
	Output []string `yaml:"output"`
	// Until repeats the command until it has this output.
	Until bool `yaml:"until"`
}

// guest runs a command in the machine.
func (r *caseRun) guest(ctx context.Context, args guestArgs) error {
	if err := r.shell(ctx); err != nil { // the machine may have just been started
		return err
	}
	if args.Until {
		return r.eventually(ctx, func() error { return r.guestOnce(ctx, args) })
	}
	return r.guestOnce(ctx, args)
}

func (r *caseRun) guestOnce(ctx context.Context, args guestArgs) error {
	line, err := r.Pace.Seconds(args.Run)
	if err != nil {
		return err
	}
	result, err := r.vm.Shell.Run(ctx, line)
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

// statusPath is the path of the agent's own status.
const statusPath = "/var/lib/slipway/status.json"

// statusArgs are the required values of the agent's own status.
type statusArgs struct {
	// Code and Name are the exit code and its name.
	Code int    `yaml:"code"`
	Name string `yaml:"name"`
	// Cause and Endpoint are those of the error, Endpoint a part of it.
	Cause    string `yaml:"cause"`
	Endpoint string `yaml:"endpoint"`
	// Took is the maximum duration of the provisioning.
	Took Boots `yaml:"took"`
	// Lasted are minimum durations of steps, by name.
	Lasted map[string]Boots `yaml:"lasted"`
	// Changed are parts of IDs that must be among the changes; ChangedOnly are the IDs of all allowed changes.
	Changed     []string `yaml:"changed"`
	ChangedOnly []string `yaml:"changedOnly"`
}

// checkStatus compares the agent's status.
func (r *caseRun) checkStatus(ctx context.Context, want statusArgs) error {
	text, err := r.vm.Shell.Output(ctx, "cat "+statusPath)
	if err != nil {
		return err
	}
	have, err := status.Parse([]byte(text))
	if err != nil {
		return err
	}
	return want.compare(have, r.Pace)
}

func (want *statusArgs) compare(have *status.Status, pace *Pace) error {
	var wrong []string
	differ := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if have.ExitCode != want.Code || want.Name != "" && have.CodeName != want.Name {
		differ("the exit code is %d %s, want %d %s", have.ExitCode, have.CodeName, want.Code, want.Name)
	}
	var failure status.Failure
	if have.Error != nil {
		failure = *have.Error
	}
	if want.Cause != "" && failure.Cause != want.Cause {
		differ("the cause is %q, want %q", failure.Cause, want.Cause)
	}
	if !strings.Contains(failure.Endpoint, want.Endpoint) {
		differ("the endpoint is %q, want %q", failure.Endpoint, want.Endpoint)
	}
	if took := time.Duration(have.DurationMs) * time.Millisecond; want.Took > 0 && took > pace.Of(want.Took) {
		differ("it took %s, want at most %s, which are %s today", took, want.Took, pace.Of(want.Took))
	}
	for _, name := range slices.Sorted(maps.Keys(want.Lasted)) {
		least, i := pace.Of(want.Lasted[name]), slices.IndexFunc(have.Steps, func(s status.Step) bool { return s.Name == name })
		switch {
		case i < 0:
			differ("there is no step %q", name)
		case time.Duration(have.Steps[i].DurationMs)*time.Millisecond < least:
			differ("%s lasted %d ms, want at least %s, which are %s today", name, have.Steps[i].DurationMs, want.Lasted[name], least)
		}
	}
	for _, c := range have.Changes {
		if want.ChangedOnly != nil && !slices.Contains(want.ChangedOnly, c.ID) {
			differ("%s was %s", c.ID, c.Action)
		}
	}
	for _, part := range want.Changed {
		if !slices.ContainsFunc(have.Changes, func(c status.Change) bool { return strings.Contains(c.ID, part) }) {
			differ("no %q among the changes %v", part, have.Changes)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the status differs: %s; its error is: %s", strings.Join(wrong, "; "), failure.String())
	}
	return nil
}

type apiServerArgs struct {
	Running bool `yaml:"running"`
}

// apiServer stops or starts the API server. It runs again for the next case in any event.
func (r *caseRun) apiServer(ctx context.Context, args apiServerArgs) error {
	if args.Running {
		return r.Lab.StartAPIServer(ctx)
	}
	r.Lab.StopAPIServer()
	return nil
}

type approverArgs struct {
	Running bool `yaml:"running"`
}

// approver removes or restores the rights by which the controller manager approves the first certificates of nodes. They are
// restored for the next case in any event.
func (r *caseRun) approver(ctx context.Context, args approverArgs) error {
	return r.Lab.API.SetApprover(ctx, args.Running)
}

type decideArgs struct {
	Approve bool `yaml:"approve"`
	// After is how long the request stays without an answer.
	After Boots `yaml:"after"`
}

// decide waits for a pending certificate signing request, and approves or denies it.
func (r *caseRun) decide(ctx context.Context, args decideArgs) error {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	open, err := r.Lab.API.OpenRequest(ctx)
	if err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(r.Pace.Of(args.After)):
	}
	return r.Lab.API.Decide(ctx, open, args.Approve)
}

type certificatesArgs struct {
	Requests int `yaml:"requests"`
}

// certificates waits until the machine has requested this number of certificates since the case began. More are an error.
func (r *caseRun) certificates(ctx context.Context, want certificatesArgs) error {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	requests, err := r.Lab.API.CertificateRequests(ctx)
	for err == nil && len(requests) < want.Requests {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d certificates were asked for, want %d: %w", len(requests), want.Requests, ctx.Err())
		case <-time.After(time.Second):
		}
		requests, err = r.Lab.API.CertificateRequests(ctx)
	}
	if err != nil {
		return err
	}
	if len(requests) != want.Requests {
		return fmt.Errorf("%d certificates were asked for, want %d: %v", len(requests), want.Requests, requests)
	}
	return nil
}
