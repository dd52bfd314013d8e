package stability

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/semver"
)

// Record is what users of a release rely on.
type Record struct {
	API   api
	Facts map[string]facts // by kind
}

type kind struct {
	name  string
	rules map[string]rule
}

// kinds are the kinds of facts, in the order of a report. Each is a file of the record.
var kinds = []kind{
	{"schema", schemaRules}, {"command", commandRules}, {"exitcode", exitCodeRules}, {"path", pathRules}, {"result", resultRules},
	{"metric", metricRules},
}

const (
	apiFile = "api.txt"
	// Fixtures is the directory of a record with what later versions must read.
	Fixtures = "fixtures"
)

// Current is the record of a checkout, whose programs are in bin.
func Current(root, bin string) (*Record, error) {
	a, err := currentAPI(root)
	if err != nil {
		return nil, err
	}
	r := &Record{API: a, Facts: map[string]facts{"exitcode": currentExitCodes()}}
	if r.Facts["schema"], err = currentSchemas(root); err != nil {
		return nil, err
	}
	if r.Facts["command"], err = currentCommands(bin); err != nil {
		return nil, err
	}
	if r.Facts["path"], err = currentPaths(); err != nil {
		return nil, err
	}
	if r.Facts["metric"], err = currentMetrics(root); err != nil {
		return nil, err
	}
	r.Facts["result"], err = currentResults()
	return r, err
}

// Read reads a record from its directory.
func Read(dir string) (*Record, error) {
	data, err := os.ReadFile(filepath.Join(dir, apiFile))
	if err != nil {
		return nil, fmt.Errorf("read the record: %w", err)
	}
	r := &Record{API: parseAPI(data), Facts: make(map[string]facts)}
	for _, kind := range kinds {
		path := filepath.Join(dir, kind.name+".json")
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the record: %w", err)
		}
		f := make(facts)
		if err := json.Unmarshal(data, &f); err != nil {
			return nil, fmt.Errorf("read the record %s: %w", path, err)
		}
		r.Facts[kind.name] = f
	}
	return r, nil
}

// write writes the record into a directory.
func (r *Record) write(dir string) error {
	files := map[string][]byte{apiFile: r.API.format()}
	for _, kind := range kinds {
		data, err := r.Facts[kind.name].format()
		if err != nil {
			return err
		}
		files[kind.name+".json"] = data
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("write the record: %w", err)
		}
	}
	return nil
}

// Compare returns what breaks users of an old record. root is the current checkout.
func Compare(root string, old, current *Record) ([]Break, error) {
	breaks, err := compareAPI(root, old.API, current.API)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		breaks = append(breaks, compare(kind.name, kind.rules, old.Facts[kind.name], current.Facts[kind.name])...)
	}
	return breaks, nil
}

// Releases are the recorded versions in a directory of records, oldest first.
func Releases(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the records: %w", err)
	}
	var versions []string
	for _, e := range entries {
		if !semver.IsValid(e.Name()) {
			return nil, fmt.Errorf("list the records: %s is no version such as v0.1.0", filepath.Join(dir, e.Name()))
		}
		versions = append(versions, e.Name())
	}
	semver.Sort(versions)
	return versions, nil
}

// Make makes the record of a version from a checkout. It replaces an earlier one, and returns its directory.
func Make(root, records, version string) (string, error) {
	if !semver.IsValid(version) || semver.Build(version) != "" {
		return "", fmt.Errorf("%q is no version: want one such as v0.1.0", version)
	}
	work, err := os.MkdirTemp("", "stability")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := build(root, work, version); err != nil {
		return "", err
	}
	current, err := Current(root, work)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(records, version)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := current.write(dir); err != nil {
		return "", err
	}
	return dir, makeFixtures(root, work, filepath.Join(dir, Fixtures))
}
