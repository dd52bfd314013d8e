package nodeconfig

// File is a file of the author's own, which belongs to root. It is below /etc, /opt, /usr/local or /var/lib, and none
// that Slipway writes, none that a machine needs to boot, and none that a person needs to log in. One of Content, Base64
// and Secret is what it holds; without any of them it is empty. When the contract has it no more, what was there before
// comes back.
type File struct {
	// Path is its absolute path.
	Path string `json:"path"`
	// Mode are its permissions in octal, such as "0755"; nobody but root may write it. Default "0644". A secret file
	// is "0600", which is its default, or "0400".
	Mode string `json:"mode,omitempty"`
	// Content is its text.
	Content string `json:"content,omitempty"`
	// Base64 is what it holds where that is no text.
	Base64 string `json:"base64,omitempty"`
	// Secret is its text where that is a credential. It is shown nowhere, and is in no image.
	Secret Secret `json:"secret,omitzero"`
	// Restarts are the units that restart when the file changes, if they run.
	Restarts []string `json:"restarts,omitempty"`
	// Reloads are the units that reload when the file changes, if they run.
	Reloads []string `json:"reloads,omitempty"`
}

// Unit is a systemd unit of the author's own, or what is said about one of others. It restarts, if it runs, when its
// content or a drop-in changes.
type Unit struct {
	// Name is the unit's name, such as "backup.timer". The units that Slipway itself has, such as "kubelet.service" and
	// "containerd.service", take drop-ins and nothing else.
	Name string `json:"name"`
	// Content is the whole unit file, at most 64 KiB: it is at /etc/systemd/system. Do not put a credential in it.
	Content string `json:"content,omitempty"`
	// DropIns are parts that are read after the unit file: at most 16.
	DropIns []DropIn `json:"dropIns,omitempty"`
	// Enabled starts the unit at each boot, with the units that WantedBy= of its content names; default
	// "multi-user.target".
	Enabled bool `json:"enabled,omitempty"`
	// State is "Started", "Stopped", "Disabled" (it is stopped, and does not start at boot), "Masked" (nor can anything
	// start it), or "None", which leaves it to others: to a timer, a socket, another unit. Default "Started" where the
	// content is given, "None" where it is not, or is that of a template.
	State UnitState `json:"state,omitempty" words:"Started,Stopped,Disabled,Masked,None"`
}

// DropIn is a part of a unit that is read after its file.
type DropIn struct {
	// Name is the name of its file, such as "10-limits.conf"; not one that Slipway itself has for the unit.
	Name string `json:"name"`
	// Content is the whole file, at most 64 KiB.
	Content string `json:"content,omitempty"`
}

// UnitState is what a unit should be.
type UnitState string

// The states.
const (
	// UnitStarted runs.
	UnitStarted UnitState = "Started"
	// UnitStopped does not run now.
	UnitStopped UnitState = "Stopped"
	// UnitDisabled does not run, and does not start at boot.
	UnitDisabled UnitState = "Disabled"
	// UnitMasked does not run, and nothing can start it.
	UnitMasked UnitState = "Masked"
	// UnitNone is left to others.
	UnitNone UnitState = "None"
)

// Kept reports whether a unit of the state must not run.
func (s UnitState) Kept() bool { return s == UnitStopped || s == UnitDisabled || s == UnitMasked }

// ShellCommand is shell text of the author's own. Everybody can read it who reads a plan, and it is an argument of a process: do
// not put a credential in it.
//
// A text is run once on a machine, and not at its next boot. It is run again when it, or one before it, has changed; when the
// machine is another one, made from this one's disk; and when the power was cut before it was known to have ended. What a text
// did stays when the contract has it no more.
type ShellCommand struct {
	// Text is what the shell runs, at most 16 KiB.
	Text string `json:"text"`
	// Replaces says that the text starts the kubelet itself, and sees to it that a boot does, in the place of Slipway
	// (eksctl's overrideBootstrapCommand). Only the last one can.
	Replaces bool `json:"replaces,omitempty"`
}
