package plan

// noLocalDNS is why a node can have no DNS cache; empty where it can.
func noLocalDNS(in *input) string {
	switch {
	case in.family.LocalDNS.Program == "":
		return "nodes of this layout have no DNS cache"
	case in.coreDNS == "":
		return "it needs CoreDNS, and the machine has none; use an image that has it"
	case len(in.config.Network.Nameservers) > 0:
		return "the resolver asks the contract's own DNS servers, and nobody else; set " + nameserversPath + " or this"
	}
	return ""
}

// canExportDNS reports whether the image's exporter is to show the numbers of the node's DNS cache, and exportsDNS whether the
// node's address is known as well, at which it does.
func canExportDNS(in *input) bool {
	return in.facts.DNSExporter && in.config.Network.LocalDNS != nil && noLocalDNS(in) == ""
}

func exportsDNS(in *input) bool { return canExportDNS(in) && nodeIPv4(in) != "" }
