// Package supportbundle is the format of a support bundle: a compressed archive of what a machine shows about itself, with
// a manifest. [NewWriter] writes one as a stream, and [Open] reads one:
//
//	func Open(r io.Reader) (*Bundle, error)
//	func (b *Bundle) Names() []string                 // sorted
//	func (b *Bundle) Read(name string) ([]byte, bool) // "facts.json", "journal/kubelet.service.json", "files/var/log/cloud-init.log"
//
// A bundle is what a stranger sends. Open takes no name that leads out of it, unpacks a limited amount, and keeps everything in
// memory. A bundle that is cut or damaged is read as far as it is whole, and Bundle.Problems names the rest.
//
// The package does no input or output of a machine, and knows no secret: internal/collect decides what a bundle has, and
// removes the secrets before they get here.
package supportbundle
