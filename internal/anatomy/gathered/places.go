package gathered

// Place is a path on a machine with documents about a boot.
type Place struct {
	// Path is a file's path. Its last element is a pattern of path.Match.
	Path string
	// Listed means that the files' times are wanted, and not their contents.
	Listed bool
}

// Places are the documents of a machine that are files, of Slipway's nodes as of AKS's.
var Places = []Place{
	{Path: "/var/log/cloud-init.log"},
	{Path: "/var/log/cloud-init-output.log"},
	{Path: "/run/cloud-init/status.json"},
	{Path: "/var/log/waagent.log"},
	{Path: "/var/log/azure/custom-script/handler.log"},
	{Path: "/var/log/azure/aks/provision.json"},
	{Path: "/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/*.json"},
	{Path: "/var/lib/waagent/custom-script/download/0/std*"},
	{Path: "/var/lib/waagent/custom-script/download/1/std*"},
	{Path: "/var/lib/slipway/status.json"},
	{Path: "/run/slipway/status.json"},
	{Path: "/opt/azure/containers/*", Listed: true},
	{Path: "/var/lib/kubelet/pki/*", Listed: true},
}
