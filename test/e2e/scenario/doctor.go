package scenario

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/doctor"
)

// doctorArgs are tables of faults.
type doctorArgs struct {
	// Faults are files beside case.yaml. Without them, only the healthy machine is examined.
	Faults []string `yaml:"faults"`
	// Repeat is how often the healthy machine is examined before the first fault; default 1. With a negative number it is not examined.
	Repeat int `yaml:"repeat"`
}

// diagnosed is a fault with what the doctor has said.
type diagnosed struct {
	fault, verdict string
	seconds        float64
	// mended is what the doctor has said of the mended machine.
	mended string
}

// doctor examines the machine with the tables' faults, one after the other, and healthy before the first one and after each. It keeps a
// table of what the doctor has said, and reports everything that differs at once.
func (r *caseRun) doctor(ctx context.Context, args doctorArgs) error {
	if err := r.shell(ctx); err != nil {
		return err
	}
	var faults []fault
	for _, name := range args.Faults {
		some, err := readFaults(filepath.Join(r.Dir, name))
		if err != nil {
			return err
		}
		faults = append(faults, some...)
	}
	if err := r.examineHealthy(ctx, cmp.Or(args.Repeat, 1)); err != nil {
		return err
	}
	var errs []error
	var rows []diagnosed
	for i := range faults {
		row, differs, ends := r.diagnose(ctx, i+1, &faults[i])
		rows = append(rows, row)
		r.Log.Info("examined", "fault", row.fault, "verdict", row.verdict, "seconds", fmt.Sprintf("%.1f", row.seconds), "mended", row.mended)
		if err := errors.Join(differs, ends); err != nil {
			r.Log.Error("the doctor differs", "fault", row.fault, "error", err)
			errs = append(errs, fmt.Errorf("%s: %w", row.fault, err))
		}
		if ends != nil {
			errs = append(errs, fmt.Errorf("%d faults were not tried", len(faults)-i-1))
			break
		}
	}
	return errors.Join(append(errs, r.keep("faults.txt", []byte(tableOf(rows))))...)
}

// tableOf shows what the doctor has said.
func tableOf(rows []diagnosed) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "fault\tverdict\tseconds\tmended")
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%s\n", row.fault, row.verdict, row.seconds, row.mended)
	}
	w.Flush()
	return text.String()
}

// examineHealthy waits until the machine is healthy, and then examines it a number of times in which no fault may be claimed.
func (r *caseRun) examineHealthy(ctx context.Context, times int) error {
	if times < 0 {
		return nil
	}
	if _, _, err := r.examineUntil(ctx, "healthy", doctor.Healthy, nil); err != nil {
		return fmt.Errorf("the healthy machine: %w", err)
	}
	var errs []error
	for i := 1; i < times; i++ {
		report, seconds, err := r.examine(ctx, fmt.Sprintf("healthy-%d", i+1))
		if err != nil {
			return err
		}
		r.Log.Info("examined", "healthy", i+1, "verdict", claims(report), "seconds", fmt.Sprintf("%.1f", seconds))
		if report.Health != doctor.Healthy {
			errs = append(errs, fmt.Errorf("the healthy machine, at examination %d: %s", i+1, claims(report)))
		}
	}
	return errors.Join(errs...)
}

// diagnose applies a fault, examines the machine, mends it, and examines it again. differs is what is not as the table has it. With ends,
// the machine is in no state for another fault.
func (r *caseRun) diagnose(ctx context.Context, number int, f *fault) (row diagnosed, differs, ends error) {
	row.fault = f.Fault
	name := fmt.Sprintf("%02d", number)
	if differs = r.runSteps(ctx, f.Apply); differs == nil {
		report, seconds, err := r.examineUntil(ctx, name, doctor.Sick, f.settled())
		if report == nil {
			return row, nil, err
		}
		row.seconds, row.verdict = seconds, string(report.Health)
		if all := report.Wrong(); len(all) > 0 {
			row.verdict = verdictOf(&all[0])
		}
		differs = f.judge(report)
	}
	if len(f.Mend) == 0 {
		return row, differs, nil
	}
	if ends = r.runSteps(ctx, f.Mend); ends != nil {
		return row, differs, fmt.Errorf("mend: %w", ends)
	}
	report, seconds, err := r.examineUntil(ctx, name+"-mended", doctor.Healthy, nil)
	if err != nil {
		row.mended = "not healthy"
		return row, differs, fmt.Errorf("mended: %w", err)
	}
	row.mended = fmt.Sprintf("%s, %.1f s", report.Health, seconds)
	return row, differs, nil
}

// runSteps runs the steps of a fault.
func (r *caseRun) runSteps(ctx context.Context, list stepList) error {
	ctx, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	return list.run(ctx, r)
}

// showing is how long a fault, or its end, may take until it shows.
const showing Boots = 12

// examineUntil examines the machine until the doctor concludes something, and settled, which may be nil, is true of its report. If that does
// not happen, it returns the last report, too.
func (r *caseRun) examineUntil(ctx context.Context, name string, want doctor.Health, settled func(*doctor.Report) bool) (*doctor.Report, float64, error) {
	ctx, cancel := r.Pace.Within(ctx, showing)
	defer cancel()
	var last *doctor.Report
	var took float64
	for {
		report, seconds, err := r.examine(ctx, name)
		if err != nil {
			return last, took, errors.Join(err, context.Cause(ctx))
		}
		last, took = report, seconds
		if report.Health == want && (settled == nil || settled(report)) {
			return report, seconds, nil
		}
		r.Log.Info("examined", "machine", name, "want", want, "have", claims(report), "seconds", fmt.Sprintf("%.1f", seconds))
		if ctx.Err() != nil {
			return last, took, fmt.Errorf("the doctor does not say that the machine is %s, but %s: %w", want, claims(report), context.Cause(ctx))
		}
	}
}

// examination runs the doctor, and prints its exit code and the machine's uptime before and after it, on a line of their own. It writes
// to no disk: that may be full.
const examination = `read -r began _ </proc/uptime; out=$(/opt/slipway/bin/slipway-node doctor -o json 2>/dev/null); code=$?; read -r ended _ </proc/uptime; echo "$code $began $ended"; echo "$out"`

// examine runs the doctor once, and keeps its report. seconds is how long it took in the machine.
func (r *caseRun) examine(ctx context.Context, name string) (report *doctor.Report, seconds float64, err error) {
	out, err := r.vm.Shell.Output(ctx, examination)
	if err != nil {
		return nil, 0, err
	}
	report, seconds, err = parseExamination(out)
	if err != nil {
		return nil, 0, fmt.Errorf("slipway-node doctor: %w: %s", err, out)
	}
	_, document, _ := strings.Cut(out, "\n")
	return report, seconds, r.keep("doctor-"+name+".json", []byte(document))
}

// healthCodes are the doctor's exit codes.
var healthCodes = map[doctor.Health]int{doctor.Healthy: 0, doctor.Sick: 1, doctor.NotKnown: 2}

// parseExamination reads the output of an examination.
func parseExamination(out string) (*doctor.Report, float64, error) {
	first, document, _ := strings.Cut(out, "\n")
	var code int
	var began, ended float64
	if _, err := fmt.Sscanf(first, "%d %g %g", &code, &began, &ended); err != nil {
		return nil, 0, err
	}
	report := new(doctor.Report)
	if err := json.Unmarshal([]byte(document), report); err != nil {
		return nil, 0, fmt.Errorf("exit code %d, and no report: %w", code, err)
	}
	if want, known := healthCodes[report.Health]; !known || want != code {
		return nil, 0, fmt.Errorf("exit code %d for the health %q", code, report.Health)
	}
	return report, ended - began, nil
}

// fault is a row of a table of faults: what makes a machine sick, and what the doctor must say.
type fault struct {
	// Fault names it.
	Fault string `yaml:"fault"`
	// Apply makes the machine sick, and Mend makes it healthy again. A fault without Mend is mended by a later one.
	Apply stepList `yaml:"apply"`
	Mend  stepList `yaml:"mend"`
	// Verdict is the check with its cause that must be the first one that is wrong: "names/silent".
	Verdict string `yaml:"verdict"`
	// Beside are further ones that may be wrong, too.
	Beside []string `yaml:"beside"`
	// Until examines the machine until the doctor says that: it gives a program that has just started some time.
	Until bool `yaml:"until"`
}

// readFaults reads a table of faults.
func readFaults(path string) ([]fault, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	faults, err := parseFaults(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return faults, nil
}

// parseFaults reads a table of faults, and reports all invalid rows.
func parseFaults(data []byte) ([]fault, error) {
	var faults []fault
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&faults); err != nil {
		return nil, err
	}
	var errs []error
	names := make(map[string]bool)
	for i := range faults {
		f := &faults[i]
		if f.Fault == "" || names[f.Fault] {
			errs = append(errs, fmt.Errorf("fault %d: %q is no name, or the name of another fault", i+1, f.Fault))
		}
		names[f.Fault] = true
		for _, err := range f.check() {
			errs = append(errs, fmt.Errorf("fault %d, %s: %w", i+1, f.Fault, err))
		}
	}
	if last := len(faults) - 1; last < 0 || len(faults[last].Mend) == 0 {
		errs = append(errs, errors.New("the last fault must be mended"))
	}
	return faults, errors.Join(errs...)
}

// check returns what is invalid in a row.
func (f *fault) check() (errs []error) {
	if len(f.Apply) == 0 {
		errs = append(errs, errors.New("nothing applies it"))
	}
	for _, verdict := range append([]string{f.Verdict}, f.Beside...) {
		if !isVerdict(verdict) {
			errs = append(errs, fmt.Errorf("%q is no check of the doctor with one of its causes, such as names/silent", verdict))
		}
	}
	for _, list := range []stepList{f.Apply, f.Mend} {
		if err := list.check(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// isVerdict reports whether the doctor's table has a check with a cause.
func isVerdict(text string) bool {
	name, cause, _ := strings.Cut(text, "/")
	return slices.ContainsFunc(doctor.Checks, func(c doctor.Check) bool {
		return c.Name == name && slices.ContainsFunc(c.Causes, func(known doctor.Cause) bool { return known.Name == cause })
	})
}

// verdictOf is a result as a table of faults has it.
func verdictOf(r *doctor.Result) string { return r.Check + "/" + r.Cause }

// settled is what the doctor's report is waited for; nil if the first fault that it claims counts.
func (f *fault) settled() func(*doctor.Report) bool {
	if !f.Until {
		return nil
	}
	return func(report *doctor.Report) bool { return f.judge(report) == nil }
}

// judge compares the doctor's report about a sick machine with the table, and returns all differences.
func (f *fault) judge(report *doctor.Report) error {
	wrong := report.Wrong()
	if len(wrong) == 0 {
		return fmt.Errorf("no fault is claimed (%s), want %s", report.Health, f.Verdict)
	}
	var errs []error
	if first := verdictOf(&wrong[0]); first != f.Verdict {
		errs = append(errs, fmt.Errorf("the first verdict is %s, want %s: %s", first, f.Verdict, wrong[0].Verdict))
	}
	for i := range wrong[1:] {
		if more := &wrong[1+i]; !slices.Contains(f.Beside, verdictOf(more)) {
			errs = append(errs, fmt.Errorf("%s stands beside it: %s", verdictOf(more), more.Verdict))
		}
	}
	return errors.Join(errs...)
}

// claims are all verdicts of a report, for people.
func claims(report *doctor.Report) string {
	var all []string
	for _, result := range report.Checks {
		switch result.State {
		case doctor.Wrong:
			all = append(all, verdictOf(&result)+": "+result.Verdict)
		case doctor.Unknown:
			all = append(all, result.Check+" is not known: "+result.Verdict)
		}
	}
	if len(all) == 0 {
		return string(report.Health)
	}
	return strings.Join(all, "; ")
}
