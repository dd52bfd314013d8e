package generation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/registration"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// Dir is the directory of the generations.
const Dir = state.Generations

const (
	// keep is how many generations are kept; the last good one is kept in addition.
	keep = 10
	// keepFailed is how many of them may be without the outcome Good.
	keepFailed = 5
	// keepBytes is their maximum total size.
	keepBytes = 32 << 20
	// maxOriginal limits a kept original, and maxOriginals all of them.
	maxOriginal  = 1 << 20
	maxOriginals = 8 << 20
	// maxLeft limits the resources of earlier generations that a record repeats.
	maxLeft = 4096
	// maxReason limits a failure's reason in the index.
	maxReason = 1 << 10
)

// Files is the part of the machine that the store uses.
type Files interface {
	ReadFile(path string, limit int64) ([]byte, error)
	WriteFileAtomic(file *resource.File) error
	Remove(path string) error
	SetAside(path string) (aside string, err error)
	Sync() error
	UnitState(ctx context.Context, unit string) (apply.UnitState, error)
	UnitEnabled(ctx context.Context, unit string) (bool, error)
	integrity.Files
}

// Store holds a machine's generations. Open reads it, and only Begin, Finish, Settled and Await change it; their caller
// holds the lock.
type Store struct {
	host Files
	log  *slog.Logger
	// entries are in the order of their numbers.
	entries []Entry
	// damaged are unreadable files. They are set aside before anything is written.
	damaged []string
	// records are the records that have been read.
	records map[int]*record
	// begun is the generation that this store has begun. 0 means none.
	begun int
}

// Open reads the index. If it cannot be read, Open rebuilds it from the generations: the node keeps running and can
// roll back.
func Open(host Files, log *slog.Logger) (*Store, error) {
	s := &Store{host: host, log: log, records: make(map[int]*record)}
	data, err := state.Index.Read(host)
	if errors.Is(err, fs.ErrNotExist) {
		return s, s.collect()
	}
	if err == nil {
		s.entries, err = parseIndex(data)
	}
	if err != nil {
		log.Warn("cannot read the index of generations; rebuilding it from the generations", "path", state.Index.Path, "error", err)
		s.damaged = append(s.damaged, state.Index.Path)
		return s, s.collect()
	}
	return s, nil
}

// collect lists the generations with existing files.
func (s *Store) collect() error {
	names, err := s.host.ReadDir(Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the generations: %w", err)
	}
	for _, name := range names {
		number, ok := numberOf(name)
		if !ok {
			continue
		}
		if r, err := s.record(number); err == nil {
			e := r.Entry
			e.Outcome = Unknown
			s.entries = append(s.entries, e)
		}
	}
	sort.SliceStable(s.entries, func(i, j int) bool { return s.entries[i].Number < s.entries[j].Number })
	// The outcome of the newest is unknown, and so are earlier ones, except the good one that it names.
	if current, found := s.Current(); found {
		for i := range s.entries {
			if s.entries[i].Number == s.records[current.Number].LastGood {
				s.entries[i].Outcome, s.entries[i].ConfirmBy = Good, time.Time{} // it needed no confirmation any more
			}
		}
	}
	return nil
}

// Entries are all generations, oldest first.
//
//go:noinline
func (s *Store) Entries() []Entry { return slices.Clone(s.entries) }

// Current is the last generation that was applied, with any outcome.
//
//go:noinline
func (s *Store) Current() (Entry, bool) {
	if len(s.entries) == 0 {
		return Entry{}, false
	}
	return s.entries[len(s.entries)-1], true
}

// LastGood is the newest generation that can be restored.
func (s *Store) LastGood() (Entry, bool) { return LastGood(s.entries) }

// LastGood is the newest of some generations, oldest first, that can be restored.
func LastGood(entries []Entry) (Entry, bool) {
	for _, e := range slices.Backward(entries) {
		if e.Stands() {
			return e, true
		}
	}
	return Entry{}, false
}

// Find returns a generation by its number.
func (s *Store) Find(number int) (Entry, bool) {
	i, found := slices.BinarySearchFunc(s.entries, number, func(e Entry, n int) int { return e.Number - n })
	if !found {
		return Entry{}, false
	}
	return s.entries[i], true
}

// Plan returns a generation's plan, for applying it again.
func (s *Store) Plan(number int) (resource.Plan, error) {
	r, err := s.record(number)
	if err != nil {
		return resource.Plan{}, err
	}
	return Lasting(r.Resources), nil
}

// record reads a generation. An unreadable one is set aside when the next generation begins.
func (s *Store) record(number int) (*record, error) {
	if r := s.records[number]; r != nil {
		return r, nil
	}
	name := recordPath(number)
	data, err := state.Generation(number).Read(s.host)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("generation %d: %w", number, err)
	}
	var r *record
	if err == nil {
		r, err = parseRecord(data)
	}
	if err == nil && r.Number != number {
		err = fmt.Errorf("holds generation %d", r.Number)
	}
	if err != nil {
		if !slices.Contains(s.damaged, name) {
			s.log.Warn("a generation cannot be read", "path", name, "error", err)
			s.damaged = append(s.damaged, name)
		}
		return nil, fmt.Errorf("generation %d: %s: %w", number, name, err)
	}
	s.records[number] = r
	return r, nil
}

// Next is the number that a plan's generation would have if it began now.
func (s *Store) Next(e Entry, plan resource.Plan) (int, error) {
	if err := e.Name(plan); err != nil {
		return 0, fmt.Errorf("number the generation: %w", err)
	}
	number, _ := s.next(e.Plan, plan.Config)
	return number, nil
}

// next returns the number of the next generation, and reports whether that continues the current one. A generation with
// a lost file is not continued.
func (s *Store) next(digest, config string) (number int, again bool) {
	current, found := s.Current()
	if found && current.Plan == digest && current.Config == config {
		if _, err := s.record(current.Number); err == nil {
			return current.Number, true
		}
	}
	return current.Number + 1, false
}

// Begin records a new generation, before any of it is applied, and returns it with its number. If the current
// generation has the same plan, Begin continues that one.
func (s *Store) Begin(ctx context.Context, e Entry, plan resource.Plan) (Entry, error) {
	err := checkPlan(plan) // so that every record can be read back
	if err != nil {
		return e, fmt.Errorf("record the generation: the plan %w", err)
	}
	if err := e.Name(plan); err != nil {
		return e, fmt.Errorf("record the generation: %w", err)
	}
	current, _ := s.Current()
	e.Outcome, e.Dialect, e.Config, e.Provisioned = Applying, plan.Dialect, plan.Config, current.Provisioned
	if e.Registers = ""; len(plan.Node.Arguments)+len(plan.Node.Kubelet) > 0 {
		e.Registers = registration.Of(&plan.Node).Digest()
	}
	if e.Origin == Provision {
		e.Provisioned = e.Config
	}
	number, again := s.next(e.Plan, e.Config)
	e.Number = number
	if again {
		if err := s.setAside(); err != nil {
			return e, err
		}
		if err := s.awaits(number, e.ConfirmBy); err != nil {
			return e, fmt.Errorf("record the generation: %w", err)
		}
		e.Revision = max(e.Revision, current.Revision)
		return e, s.add(s.entries[:len(s.entries)-1], e, s.writeIndex)
	}
	left, err := s.left(plan)
	if err != nil {
		return e, fmt.Errorf("record the generation: %w", err)
	}
	originals, err := s.originals(plan, left)
	if err != nil {
		return e, fmt.Errorf("record the generation: %w", err)
	}
	plan = s.withTemporary(e, plan)
	if err := s.setAside(); err != nil {
		return e, err
	}
	baseline, err := s.baseline(plan)
	if err != nil {
		return e, fmt.Errorf("record the generation: %w", err)
	}
	if plan, err = s.remembering(ctx, plan); err != nil {
		return e, fmt.Errorf("record the generation: %w", err)
	}
	r := newRecord(e, plan, left, originals)
	r.Baseline = baseline
	good, _ := s.LastGood()
	r.LastGood = good.Number
	if err := s.write(state.Generation(e.Number), r); err != nil {
		return e, fmt.Errorf("record the generation: %w", err)
	}
	s.records[e.Number] = r
	return e, s.add(s.entries, e, s.conclude)
}

// withTemporary adds temporary files to a plan that was made from a record: those of the generation that it restores,
// or of the current one of the same config. A node that has not joined yet still needs them.
func (s *Store) withTemporary(e Entry, plan resource.Plan) resource.Plan {
	if e.Restores > 0 {
		if restored, err := s.record(e.Restores); err == nil && restored.Plan == e.Plan {
			return restored.Resources
		}
	}
	current, _ := s.Current()
	r, err := s.record(current.Number)
	if err != nil || current.Config != plan.Config {
		return plan
	}
	planned := plan.ByID()
	plan.Resources = slices.Clone(plan.Resources)
	for _, res := range r.Resources.Resources {
		f, ok := res.Spec.(*resource.File)
		if _, has := planned[res.ID()]; ok && f.Temporary() && !has {
			plan.Resources = append(plan.Resources, res)
		}
	}
	plan.Sort()
	return plan
}

// add begins a generation after earlier ones, if that can be recorded. Otherwise nothing is applied, and the list
// stays.
func (s *Store) add(before []Entry, e Entry, record func() error) error {
	all := s.entries
	s.entries = append(slices.Clone(before), e)
	if err := record(); err != nil {
		s.entries = all
		return err
	}
	s.begun = e.Number
	return nil
}

// Finish records the outcome of the current generation.
func (s *Store) Finish(outcome Outcome, reason string, at time.Time) error {
	current := &s.entries[len(s.entries)-1]
	current.Outcome, current.Reason, current.FinishedAt = outcome, bounded(reason), at
	return s.conclude()
}

// Amend records that the current generation, while it is being applied, has another plan with the same resources: the
// content of some files was decided late.
func (s *Store) Amend(plan resource.Plan) error {
	current := &s.entries[len(s.entries)-1]
	r, err := s.record(current.Number)
	if err != nil {
		return fmt.Errorf("record the generation: %w", err)
	}
	entry := r.Entry
	entry.Plan = ""
	if err := entry.Name(plan); err != nil {
		return fmt.Errorf("record the generation: %w", err)
	}
	decided, resources := plan.ByID(), r.Resources
	resources.Resources = slices.Clone(resources.Resources)
	for i := range resources.Resources {
		if file, ok := decided[resources.Resources[i].ID()].Spec.(*resource.File); ok && !file.Temporary() {
			resources.Resources[i].Spec = file
		}
	}
	other := newRecord(entry, resources, r.Left, r.Originals)
	other.LastGood, other.Baseline = r.LastGood, r.Baseline
	if err := s.write(state.Generation(current.Number), other); err != nil {
		return fmt.Errorf("record the generation: %w", err)
	}
	s.records[current.Number], current.Plan = other, entry.Plan
	return s.writeIndex()
}

// conclude writes the index, and drops the generations that need not be kept. If it cannot write the index, it drops
// nothing: the generation that would displace a good one may still fail.
func (s *Store) conclude() error {
	all := s.entries
	retired := s.retire()
	if err := s.writeIndex(); err != nil {
		s.entries = all
		return err
	}
	if retired {
		s.sweep()
	}
	return nil
}

// bounded returns the beginning of a reason.
func bounded(reason string) string {
	if len(reason) > maxReason {
		reason = reason[:maxReason] + "..."
	}
	return strings.ToValidUTF8(reason, "")
}

// Settled records that the current generation's plan was made again and the machine matches it: whether by a boot, and
// with which addresses. It writes nothing if that is already recorded.
func (s *Store) Settled(again Entry) error {
	current := &s.entries[len(s.entries)-1]
	before := *current
	if again.Origin == Provision {
		current.Provisioned = current.Config
	}
	if again.Origin != Rollback && again.Addresses != "" {
		current.Addresses = again.Addresses
	}
	if *current == before {
		return nil
	}
	return s.writeIndex()
}

// Await records the confirmation deadline of the current generation. The zero time makes it stay.
func (s *Store) Await(until time.Time) error {
	current := &s.entries[len(s.entries)-1]
	if err := s.awaits(current.Number, until); err != nil {
		return fmt.Errorf("record the generation: %w", err)
	}
	current.ConfirmBy = until
	return s.writeIndex()
}

// awaits writes the deadline to the generation's record, before the index has it: if the index is lost, a confirmed
// generation must stay, and an unconfirmed one must find its timer. An unreadable record has no deadline.
func (s *Store) awaits(number int, until time.Time) error {
	r, err := s.record(number)
	if err != nil || r.ConfirmBy.Equal(until) {
		return nil
	}
	other := *r
	other.ConfirmBy = until
	if err := s.write(state.Generation(number), &other); err != nil {
		return err
	}
	s.records[number] = &other
	return nil
}

func (s *Store) writeIndex() error {
	if err := s.write(state.Index, index{apiVersion, indexKind, s.entries}); err != nil {
		return fmt.Errorf("record the generation: %w", err)
	}
	return nil
}

func (s *Store) write(file state.File, document any) error {
	content, err := marshal(document)
	if err != nil {
		return err
	}
	return file.Write(s.host, content)
}

// setAside renames unreadable files.
func (s *Store) setAside() error {
	for _, name := range s.damaged {
		aside, err := s.host.SetAside(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.log.Warn("a damaged file is set aside", "path", name, "aside", aside)
	}
	s.damaged = nil
	return nil
}

// numberOf returns the number of a generation from its file's name.
func numberOf(name string) (number int, ok bool) {
	number, err := strconv.Atoi(strings.TrimSuffix(name, ".json"))
	return number, err == nil && number > 0 && state.Generation(number).Name() == name
}

func recordPath(number int) string { return state.Generation(number).Path }
