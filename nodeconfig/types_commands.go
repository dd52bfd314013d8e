package nodeconfig

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
