package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/doctor"
)

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
