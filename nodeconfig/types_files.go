package nodeconfig

// File is one of the author's own files. It belongs to root. It is below /etc, /opt, /usr/local or /var/lib, and is not a file that
// Slipway writes, that a machine needs to boot, or that a person needs to log in. One of Content, Base64 and Secret is its content;
// without any of them it is empty. When a later contract does not have the file, the file that was there before comes back.
type File struct {
	// Path is its absolute path.
	Path string `json:"path"`
	// Mode is the file's permissions in octal, such as "0755"; only root may have write permission. Default "0644". A secret file
	// is "0600", which is its default, or "0400".
	Mode string `json:"mode,omitempty"`
	// Content is the file's text.
	Content string `json:"content,omitempty"`
	// Base64 is the file's content if that is not text.
	Base64 string `json:"base64,omitempty"`
	// Secret is the file's text if that is a credential. It is never shown, and is in no image.
	Secret Secret `json:"secret,omitzero"`
	// Restarts are the units that restart when the file changes, if they run.
	Restarts []string `json:"restarts,omitempty"`
	// Reloads are the units that reload when the file changes, if they run.
	Reloads []string `json:"reloads,omitempty"`
}

// Unit is one of the author's own systemd units, or settings for an existing one. If it runs, it restarts when its content or a
// drop-in changes.
type Unit struct {
	// Name is the unit's name, such as "backup.timer". For Slipway's own units, such as "kubelet.service" and "containerd.service",
	// only drop-ins are allowed.
	Name string `json:"name"`
	// Content is the whole unit file, at most 64 KiB, at /etc/systemd/system. Do not put a credential in it.
	Content string `json:"content,omitempty"`
	// DropIns are parts that systemd reads after the unit file: at most 16.
	DropIns []DropIn `json:"dropIns,omitempty"`
	// Enabled starts the unit at each boot, with the units that WantedBy= in its content names; default "multi-user.target".
	Enabled bool `json:"enabled,omitempty"`
	// State is "Started", "Stopped", "Disabled" (stopped, and does not start at boot), "Masked" (and nothing can start it), or
	// "None", which leaves the state to others: to a timer, a socket, another unit. Default "Started" if the unit has content and
	// is not a template, else "None".
	State UnitState `json:"state,omitempty" words:"Started,Stopped,Disabled,Masked,None"`
}

// DropIn is a part of a unit that systemd reads after its file.
type DropIn struct {
	// Name is the name of its file, such as "10-limits.conf". It must not be one of Slipway's own drop-ins for the unit.
	Name string `json:"name"`
	// Content is the whole file, at most 64 KiB.
	Content string `json:"content,omitempty"`
}

// UnitState is the required state of a unit.
type UnitState string

// The states.
const (
	// UnitStarted: the unit runs.
	UnitStarted UnitState = "Started"
	// UnitStopped: the unit does not run now.
	UnitStopped UnitState = "Stopped"
	// UnitDisabled: the unit does not run, and does not start at boot.
	UnitDisabled UnitState = "Disabled"
	// UnitMasked: the unit does not run, and nothing can start it.
	UnitMasked UnitState = "Masked"
	// UnitNone: other units decide.
	UnitNone UnitState = "None"
)

// Kept reports whether a unit in this state must not run.
func (s UnitState) Kept() bool { return s == UnitStopped || s == UnitDisabled || s == UnitMasked }

// ShellCommand is one of the author's own shell commands. Every reader of a plan can see it, and it is an argument of a process: do
// not put a credential in it.
//
// A command runs once on a machine, and not again at its next boot. It runs again if it, or one before it, has changed; if the disk
// is now in another machine; and if the power was cut before its end was recorded. The effects of a command stay when a later
// contract does not have it.
type ShellCommand struct {
	// Text is the shell's input, at most 16 KiB.
	Text string `json:"text"`
	// Replaces means that this command, instead of Slipway, starts the kubelet and makes it start at each boot (eksctl's
	// overrideBootstrapCommand). Only the last command can replace.
	Replaces bool `json:"replaces,omitempty"`
}
