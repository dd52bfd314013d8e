# The steps by which a machine is made a node, in the order of AKS's own.

base_prep() {
	logs_to_events AKS.CSE.getInstanceMetadata instance_metadata || exit 234
	logs_to_events AKS.CSE.installKubelet install_kubelet || exit 31
	logs_to_events AKS.CSE.ensureDirectories ensure_directories || exit 41
	logs_to_events AKS.CSE.configCNI configure_modules || exit 49
	logs_to_events AKS.CSE.ensureContainerd ensure_containerd || exit 6
	logs_to_events AKS.CSE.configKubeletUnit write_kubelet_unit || exit 34
	logs_to_events AKS.CSE.ensureSysctl ensure_sysctl || exit 103
}

node_prep() {
	logs_to_events AKS.CSE.configAzureJson write_azure || exit 1
	logs_to_events AKS.CSE.configureK8sCA write_authority || exit 1
	logs_to_events AKS.CSE.udev settle_udev || exit 1
	logs_to_events AKS.CSE.apiServerConnectivity reach_api_server || exit 51
	logs_to_events AKS.CSE.containerdReady containerd_ready || exit 4
	logs_to_events AKS.CSE.ensureKubelet ensure_kubelet || exit 34
	logs_to_events AKS.CSE.kubeletHealth kubelet_active || exit 34
}

instance_metadata() {
	retry 20 1 60 bash -c fetch_metadata >"$metadata"
	grep -q '"vmId"' "$metadata"
}

# One connection of the shell's own is quicker than a program, which the image would have to have.
fetch_metadata() {
	exec 3<>/dev/tcp/169.254.169.254/80 || return 1
	printf 'GET /metadata/instance?api-version=2021-02-01 HTTP/1.0\r\nHost: 169.254.169.254\r\nMetadata: true\r\n\r\n' >&3
	cat <&3
	exec 3<&-
}

install_kubelet() {
	ln -sfn "$kubelet" /opt/bin/kubelet
	chmod 0755 /opt/bin/kubelet
}

ensure_directories() { mkdir -p "${directories[@]}"; }

configure_modules() {
	local module
	write_modules
	for module in "${modules[@]}"; do
		retry 120 5 25 modprobe "$module" || return 1
	done
}

ensure_containerd() {
	write_containerd
	retry 24 5 25 sysctl --system || return 103
	enable_and_start containerd
}

ensure_sysctl() {
	write_sysctl
	retry 24 5 25 sysctl --system
}

settle_udev() {
	udevadm control --reload-rules
	udevadm trigger
	udevadm settle --timeout=10
}

reach_api_server() { retry 300 1 10 bash -c "exec 3<>/dev/tcp/$api_server/443"; }

containerd_ready() { retry 240 0.1 1 ctr version; }

ensure_kubelet() {
	grep -o '"privateIpAddress":"[^"]*"' "$metadata" | cut -d'"' -f4
	write_kubelet
	enable_and_start kubelet
}

kubelet_active() { retry 240 0.1 5 systemctl is-active --quiet kubelet; }

export -f fetch_metadata
[ -e /opt/azure/containers/provision.complete ] && exit 0
mkdir -p /var/log/azure/aks "$events" /opt/bin
base_prep
node_prep
