package azure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// ScriptVariable says what one variable of a [Script] is there for. It has no value: some are credentials.
type ScriptVariable struct {
	Name string `json:"name"`
	// Class is "decides" for one of the 28 that make nodes differ, "constant" for one that is the same for all nodes, "unused" for
	// a constant that the scripts do not need, and "more" for one that Karpenter for Azure does not have.
	Class string `json:"class"`
	// Field is its name in Karpenter for Azure, Source where its value is from there; empty for "more".
	Field  string        `json:"field,omitempty"`
	Source launch.Source `json:"source,omitempty"`
	// Bytes is how long its value is.
	Bytes int `json:"bytes"`
}

// errScript refuses what no image of one's own has scripts for.
var errScript = errors.New("the script of variables is for images of AKS's; an image of one's own has Slipway, and takes the user data without a script")

// Script is the user data for an image of AKS's without Slipway, in base64: a script that gives the image's own scripts their
// variables. They are sorted, and quoted so that a shell gives any value back as it is. The report lists them by name. The error
// is one of [launch.Template.Contract] or a [*userdata.TooLargeError], or names a variable that no shell can hold, or
// says that the image is none of AKS's.
func Script(t *launch.Template, token nodeconfig.Secret) (userData string, report []ScriptVariable, err error) {
	if isOwn(t.Document()) {
		return "", nil, errScript
	}
	contract, err := t.Contract(token)
	if err != nil {
		return "", nil, err
	}
	if len(contract.Parts) > 0 {
		return "", nil, errors.New("$.machine.userData: the script of variables has no place for it; use an image with Slipway, or leave it out")
	}
	read := compile.Read([]compile.Document{{Data: contract.Document}}, "")
	variables, problems := cse.Variables(read, facts.Facts{Architecture: t.Document().Machine.Type.Architecture})
	var wrong []error
	for _, p := range nodeconfig.Fatal(problems) {
		wrong = append(wrong, fmt.Errorf("%s: %s", p.Path, p.Reason))
	}
	if wrong != nil {
		return "", nil, errors.Join(wrong...)
	}
	script, err := cse.Script(variables)
	if err != nil {
		return "", nil, err
	}
	if err := userdata.Azure.Check(len(script)); err != nil {
		if large, ok := errors.AsType[*userdata.TooLargeError](err); ok {
			large.Parts, large.Settings = scriptSizes(variables, len(script)), contract.LargestSettings()
		}
		return "", nil, err
	}
	return base64.StdEncoding.EncodeToString(script), reportOf(cse.Assigned(variables)), nil
}

// scriptSizes are what a script of a size is made of.
func scriptSizes(variables []cse.Variable, size int) []userdata.Size {
	rows := make([]userdata.Size, 0, len(variables))
	for _, v := range variables {
		rows = append(rows, userdata.Size{What: v.Name, Bytes: len(v.Value)})
		size -= len(v.Value)
	}
	return append(userdata.LargestAnd(rows, "the values of all other variables"), userdata.Size{What: "the script without these values", Bytes: size})
}

// reportOf says of each variable what it is there for.
func reportOf(variables []cse.Variable) []ScriptVariable {
	report := make([]ScriptVariable, 0, len(variables))
	for _, v := range variables {
		shown := ScriptVariable{Name: v.Name, Class: "more", Bytes: len(v.Value)}
		if i := slices.IndexFunc(scriptRows, func(r scriptRow) bool { return r.variable == v.Name }); i >= 0 {
			r := &scriptRows[i]
			shown.Field, shown.Source, shown.Class = r.field, r.source, "decides"
			switch {
			case r.source == launch.Hardcoded && r.unused:
				shown.Class = "unused"
			case r.source == launch.Hardcoded:
				shown.Class = "constant"
			}
		}
		report = append(report, shown)
	}
	return report
}
