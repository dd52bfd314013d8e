package resource

import (
	"fmt"
	"unicode"

	"github.com/slipway-dev/slipway/internal/place"
)

// Spec is the specification of a resource of one kind.
type Spec interface {
	// Kind is the type's name.
	Kind() string
	// Name distinguishes it from others of its kind.
	Name() string
	// Paths are the paths that it creates or changes on the disk. It may be empty.
	Paths() []string
	// Valid returns an error if no plan may have it: a path that plans may not use, or a value with another meaning.
	Valid() error
	// Describe returns its description for people.
	Describe() Description
}

// Description is what people see of a resource beside its reason. It contains no secret.
type Description struct {
	// Title is its name, with a short value.
	Title string
	// Mode are its permissions, if it has any.
	Mode string
	// What is additional information.
	What string
	// Secret reports that its content is a secret.
	Secret bool
}

// Kind has the properties of all resources of a kind.
type Kind struct {
	// New creates an empty one.
	New func() Spec
	// Lasts reports whether one survives a boot.
	Lasts func(Spec) bool
	// NotUndone returns why a resource is not undone when a plan does not have it any more; NotUndoneSource is the
	// source of that fact. If it is nil, or returns "", the engine undoes the resource.
	NotUndone       func(Spec) string
	NotUndoneSource string
	// Part reports that one is only a part of the file at its path, which other programs write too.
	Part bool
	// Kept returns what a generation's plan keeps of one for a later apply: no credential and nothing that only this
	// run knows. It returns nil if a later apply cannot have the resource. If Kept is nil, all of it is kept.
	Kept func(Spec) Spec
	// Stored returns what a generation's record holds of one, which an image can carry to other machines. If nil, all
	// of it.
	Stored func(Spec) Spec
	// Compared returns the part by which two plans are compared. If nil, all of it.
	Compared func(Spec) Spec
	// Text returns its file content, which is compared line by line. If nil, it has none.
	Text func(Spec) *File
	// Agentless is how a node without an agent gets it.
	Agentless Agentless
}

// Agentless is how a node without an agent gets a resource. If both fields are empty, the kind has a row in
// internal/agentless, which writes it.
type Agentless struct {
	// AtBoot returns a command for each boot. If optional is true, the boot continues after a failure.
	AtBoot func(Spec) (argv []string, optional bool)
	// Lost describes what is missing, because nothing does it.
	Lost string
	// Fatal reports that without it the node does not join, is less secure, or differs from the contract.
	Fatal bool
}

// Kinds are all kinds of resource, by name. The engine has a row for each (apply, kinds.go). A test checks every row
// and column.
var Kinds = map[string]Kind{
	"Attribute": {
		New: fresh[Attribute], Lasts: never, Agentless: atBoot((*Attribute).atBoot),
		NotUndone: says("the kernel keeps the value until it boots again"), NotUndoneSource: "sysfs(5)",
	},
	"Block": {New: fresh[Block], Lasts: always, Part: true, Text: asText((*Block).text)},
	"Certificate": {
		New: fresh[Certificate], Lasts: always, Kept: part((*Certificate).withoutToken), Compared: part((*Certificate).withoutToken),
		Agentless: Agentless{Lost: "the kubelet asks for its certificate itself, and later"},
		NotUndone: says("the kubelet renews it, and the node is known by it"), NotUndoneSource: "Kubernetes: kubelet certificate rotation",
	},
	"Check": {
		New: fresh[Check], Lasts: always, Kept: part((*Check).withoutToken), Compared: part((*Check).withoutToken),
		NotUndone: says("it changes nothing"), NotUndoneSource: "Check",
	},
	"Command":   {New: fresh[Command], Lasts: always, Kept: part((*Command).kept), NotUndone: notUndoneWithoutInputs, NotUndoneSource: "Command"},
	"Copy":      {New: fresh[Copy], Lasts: always, Agentless: atBoot((*Copy).atBoot)},
	"Directory": {New: fresh[Directory], Lasts: always},
	"Download": {
		New: fresh[Download], Lasts: always, Kept: part((*Download).kept), Stored: part((*Download).anonymous),
		Agentless: Agentless{Lost: "no agent installs it: use an image that has the component, or one that was prepared with the agent", Fatal: true},
		NotUndone: says("it is kept for the way back, the last one of each component"), NotUndoneSource: "Download",
	},
	"File": {New: fresh[File], Lasts: always, Kept: part((*File).kept), Compared: part((*File).compared), Text: asText((*File).text)},
	"Image": {
		New: fresh[Image], Lasts: always, Kept: part((*Image).kept), Stored: part((*Image).anonymous),
		Agentless: Agentless{Lost: "no agent pulls it with the machine's identity: use a machine image that has it", Fatal: true},
		NotUndone: says("a pod may use it; the kubelet removes unused images"), NotUndoneSource: "Kubernetes docs, Garbage Collection, of unused images",
	},
	"Module": {
		New: fresh[Module], Lasts: never, Agentless: atBoot((*Module).atBoot),
		NotUndone: says("it stays loaded until the machine boots again"), NotUndoneSource: "modules-load.d(5)",
	},
	"Mount": {
		New: fresh[Mount], Lasts: never,
		Agentless: Agentless{Lost: "no agent mounts it at each boot, or notices when the disk is another one", Fatal: true},
	},
	"ServingCertificate": {
		New: fresh[ServingCertificate], Lasts: always, Agentless: Agentless{Lost: "the kubelet makes it itself when it starts"},
		NotUndone: says("it is the kubelet's, which reads it for as long as it is there"), NotUndoneSource: "Kubernetes: cmd/kubelet/app/server.go, InitializeTLS",
	},
	"Swap": {
		New: fresh[Swap], Lasts: never,
		Agentless: Agentless{Lost: "no agent makes the swap file, or notices when the disk is another one", Fatal: true},
	},
	"Symlink": {New: fresh[Symlink], Lasts: always},
	"Sysctl": {
		New: fresh[Sysctl], Lasts: never, Agentless: atBoot((*Sysctl).atBoot),
		NotUndone: says("the kernel keeps the value until it boots again"), NotUndoneSource: "sysctl.d(5)",
	},
	"TrustStore": {New: fresh[TrustStore], Lasts: always},
	"Unit":       {New: fresh[Unit], Lasts: never, NotUndone: notUndoneIfStays, NotUndoneSource: "Unit"},
	"UnitState": {
		New: fresh[UnitState], Lasts: func(s Spec) bool { return s.(*UnitState).State != UnitStopped },
		Kept: part((*UnitState).withoutWas), Compared: part((*UnitState).withoutWas),
	},
}

// fresh creates an empty spec.
func fresh[T any, P interface {
	*T
	Spec
}]() Spec {
	return P(new(T))
}

// part converts a function for one kind's spec to a function for any spec.
func part[T any, P interface {
	*T
	Spec
}](of func(P) P) func(Spec) Spec {
	return func(s Spec) Spec {
		if p := of(s.(P)); p != nil {
			return p
		}
		return nil
	}
}

func asText[P Spec](of func(P) *File) func(Spec) *File {
	return func(s Spec) *File { return of(s.(P)) }
}

func atBoot[P Spec](of func(P) ([]string, bool)) Agentless {
	return Agentless{AtBoot: func(s Spec) ([]string, bool) { return of(s.(P)) }}
}

func always(Spec) bool { return true }
func never(Spec) bool  { return false }

// says returns one answer for all resources of a kind.
func says(why string) func(Spec) string { return func(Spec) string { return why } }

func notUndoneWithoutInputs(s Spec) string {
	if c := s.(*Command); len(c.Inputs) == 0 || c.Once != "" {
		return "what it did is not known"
	}
	return ""
}

// notUndoneIfStays is the NotUndone of units.
func notUndoneIfStays(s Spec) string {
	if s.(*Unit).Stays {
		return "it may be what makes the change"
	}
	return ""
}

// Undone reports whether the engine undoes a resource when a plan does not have it any more.
func Undone(s Spec) bool {
	reason := Kinds[s.Kind()].NotUndone
	return reason == nil || reason(s) == ""
}

// KindOf returns the kind of a spec.
func KindOf(spec Spec) Kind { return Kinds[spec.Kind()] }

// Kept returns what a generation's plan keeps of a spec for a later apply, or nil.
func Kept(spec Spec) Spec { return partOf(spec, KindOf(spec).Kept) }

// Stored returns what a generation's record holds of a spec.
func Stored(spec Spec) Spec { return partOf(spec, KindOf(spec).Stored) }

// Compared returns the part of a spec by which two plans are compared.
func Compared(spec Spec) Spec { return partOf(spec, KindOf(spec).Compared) }

func partOf(spec Spec, part func(Spec) Spec) Spec {
	if part == nil {
		return spec
	}
	return part(spec)
}

// OnDisk reports whether a spec is for a path: all of these are compared and written together, before anything is
// loaded, started or run.
func OnDisk(spec Spec) bool { return len(spec.Paths()) > 0 }

// whole is the path of a spec for a whole file, directory or link.
func whole(path string) []string { return []string{path} }

// checkPath requires a path that a plan may have.
func checkPath(path string) error {
	if reason := place.Check(path); reason != "" {
		return fmt.Errorf("path %q %s", path, reason)
	}
	return nil
}

// Words is a readable form of a kind's name: "unit state" for "UnitState".
func Words(kind string) string {
	var words []rune
	for i, r := range kind {
		if unicode.IsUpper(r) && i > 0 {
			words = append(words, ' ')
		}
		words = append(words, unicode.ToLower(r))
	}
	return string(words)
}
