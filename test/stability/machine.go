package stability

import (
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/dist"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/state"
)

var (
	exitCodeRules = map[string]rule{"name": changed}
	pathRules     = map[string]rule{"mode": changed, "of": lost}
)

func currentExitCodes() facts {
	all := make(facts)
	for _, code := range exitcode.All() {
		all[strconv.Itoa(code.Number)] = attributes{"name": {code.Name}}
	}
	return all
}

// currentPaths are the files and units that programs and people find on a machine, with the table that has them: that of the agent's own
// files, of the image's, of its units, or of a family of nodes.
func currentPaths() (facts, error) {
	all := make(facts)
	for _, f := range state.Files() {
		add(all, f.Path, "agent")
		all[f.Path]["mode"] = []string{fmt.Sprintf("%04o", f.Mode)}
	}
	for _, path := range append(place.BaseContracts, components.Path, place.Downloads) {
		add(all, path, "image")
	}
	for _, family := range profile.All() {
		addPaths(all, reflect.ValueOf(*family), family.Name)
	}
	return all, addUnits(all)
}

func add(all facts, path, of string) {
	if all[path] == nil {
		all[path] = make(attributes)
	}
	if !slices.Contains(all[path]["of"], of) {
		all[path]["of"] = append(all[path]["of"], of)
		slices.Sort(all[path]["of"])
	}
}

var absolute = regexp.MustCompile(`^/[\w.@/-]+$`)

// addPaths adds all texts of a family that are paths.
func addPaths(all facts, v reflect.Value, of string) {
	switch v.Kind() {
	case reflect.String:
		if absolute.MatchString(v.String()) {
			add(all, v.String(), of)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			addPaths(all, v.Field(i), of)
		}
	case reflect.Slice:
		for i := range v.Len() {
			addPaths(all, v.Index(i), of)
		}
	}
}

// own are paths in the agent's units that an administrator may use.
var own = regexp.MustCompile(`/etc/slipway/[\w.-]+`)

func addUnits(all facts) error {
	return fs.WalkDir(dist.Units, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		unit, err := fs.ReadFile(dist.Units, path)
		if err != nil {
			return err
		}
		add(all, d.Name(), "units")
		for _, file := range own.FindAllString(string(unit), -1) {
			add(all, file, "units")
		}
		return nil
	})
}
