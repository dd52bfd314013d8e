package concern

import "github.com/slipway-dev/slipway/internal/plan/setting"

// NoLocalDNS returns the reason why a node can have no DNS cache; empty if it can.
func NoLocalDNS(in *Input) string {
	switch {
	case in.Family.LocalDNS.Program == "":
		return "nodes of this layout have no DNS cache"
	case in.CoreDNS == "":
		return "it needs CoreDNS, and the machine has none; use an image that has it"
	case len(in.Config.Network.Nameservers) > 0:
		return "the resolver asks only the contract's DNS servers; set " + setting.Nameservers + " or this"
	}
	return ""
}

// CanExportDNS reports whether the image's exporter should publish the metrics of the node's DNS cache. ExportsDNS reports whether it
// does: that also needs the node's address, on which it listens.
func CanExportDNS(in *Input) bool {
	return in.Facts.DNSExporter && in.Config.Network.LocalDNS != nil && NoLocalDNS(in) == ""
}

func ExportsDNS(in *Input) bool { return CanExportDNS(in) && NodeIPv4(in) != "" }
